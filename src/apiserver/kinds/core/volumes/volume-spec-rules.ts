import { posix } from 'node:path';
import type { PersistentVolumeSpec, VolumeNodeAffinity } from '../../../../kube/api/stored/core.ts';
import { quantityToBytes } from '../../../../kube/quantities/quantity.ts';
import { withSortedKeys } from '../../../../kube/sorted-keys.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules } from '../../../validation/names.ts';
import { checkPositiveQuantity, quantityOf } from '../../../validation/quantities.ts';
import { checkNodeSelector } from '../../../validation/selectors.ts';
import { checkAccessModes, checkVolumeMode } from './access-modes.ts';
import { checkVolumeSource } from './persistent-volume-sources.ts';

export interface VolumeSpecOptions {
  readonly volumeName: string;
  /** The old node affinity contains a value that no label can have; the new one may keep such values. */
  readonly allowsAnyAffinityValue: boolean;
}

export function checkVolumeSpec(
  errors: FieldErrors,
  field: string,
  spec: PersistentVolumeSpec,
  options: VolumeSpecOptions,
): void {
  const { accessModes = [], storageClassName = '' } = spec;
  if (accessModes.length === 0) errors.required(`${field}.accessModes`);
  checkAccessModes(errors, `${field}.accessModes`, accessModes);
  checkCapacity(errors, `${field}.capacity`, spec.capacity);
  checkReclaimPolicy(errors, `${field}.persistentVolumeReclaimPolicy`, spec);
  checkAffinity(errors, `${field}.nodeAffinity`, spec.nodeAffinity, options);
  checkVolumeSource(errors, field, spec, { name: options.volumeName });
  checkRecycledRoot(errors, field, spec);
  if (storageClassName !== '') checkClassName(errors, `${field}.storageClassName`, storageClassName);
  checkVolumeMode(errors, `${field}.volumeMode`, spec.volumeMode);
  checkAttributesClass(errors, field, spec);
}

/**
 * The spec of an inline volume, which exists only in an attachment: CSI only, without fields that belong to a
 * PersistentVolume object.
 */
export function checkInlineVolumeSpec(errors: FieldErrors, field: string, spec: PersistentVolumeSpec): void {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy = '', volumeMode } = spec;
  if (spec.claimRef !== undefined) errors.forbidden(`${field}.claimRef`, notInline);
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.forbidden(`${field}.capacity`, notInline);
  if (spec.csi === undefined) {
    errors.required(`${field}.csi`, 'has to be specified in the context of inline volumes');
  }
  if (accessModes.length === 0) errors.required(`${field}.accessModes`);
  checkAccessModes(errors, `${field}.accessModes`, accessModes);
  if (policy !== '' && policy !== 'Retain') {
    const detail = 'may only be Retain in the context of inline volumes';
    errors.forbidden(`${field}.persistentVolumeReclaimPolicy`, detail);
  }
  if (spec.nodeAffinity !== undefined) errors.forbidden(`${field}.nodeAffinity`, notInline);
  checkVolumeSource(errors, field, { ...spec, nodeAffinity: undefined }, { name: '' });
  checkRecycledRoot(errors, field, spec);
  if (spec.storageClassName) errors.forbidden(`${field}.storageClassName`, notInline);
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    const detail = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
    errors.forbidden(`${field}.volumeMode`, detail);
  }
}

/** The name of a StorageClass or a VolumeAttributesClass. */
export function checkClassName(errors: FieldErrors, field: string, name: string): void {
  errors.invalidFor(field, name, nameRules.dnsSubdomain(name, false));
}

/** An amount in a volume's capacity or in a claim's status must not be negative. */
export function checkBasicResource(errors: FieldErrors, field: string, text: string): void {
  const bytes = quantityToBytes(quantityOf(text));
  if (bytes < 0n) errors.invalid(field, bytes, 'must be a valid resource quantity');
}

const notInline = 'may not be specified in the context of inline volumes';
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

function checkCapacity(errors: FieldErrors, field: string, capacity: PersistentVolumeSpec['capacity']): void {
  const entries = Object.entries(capacity ?? {});
  if (entries.length === 0) errors.required(field);
  if (capacity?.storage === undefined || entries.length > 1) {
    errors.notSupported(field, capacity === undefined ? null : withSortedKeys(capacity), ['storage']);
  }
  for (const [name, text] of entries) {
    checkBasicResource(errors, `${field}[${name}]`, text);
    checkPositiveQuantity(errors, `${field}[${name}]`, text);
  }
}

function checkReclaimPolicy(errors: FieldErrors, field: string, spec: PersistentVolumeSpec): void {
  const { persistentVolumeReclaimPolicy: policy = '' } = spec;
  if (policy !== '' && !reclaimPolicies.includes(policy)) {
    errors.notSupported(field, policy, reclaimPolicies);
  }
}

function checkAffinity(
  errors: FieldErrors,
  field: string,
  affinity: VolumeNodeAffinity | undefined,
  { allowsAnyAffinityValue }: VolumeSpecOptions,
): void {
  if (affinity === undefined) return;
  if (affinity.required === undefined) {
    errors.required(`${field}.required`, 'must specify required node constraints');
    return;
  }
  const options = { allowsAnyValue: allowsAnyAffinityValue };
  checkNodeSelector(errors, `${field}.required`, affinity.required, options);
}

/** Recycling deletes all files of the volume, so the root of a host is not allowed. */
function checkRecycledRoot(errors: FieldErrors, field: string, spec: PersistentVolumeSpec): void {
  const { hostPath, persistentVolumeReclaimPolicy: policy } = spec;
  if (hostPath === undefined || policy !== 'Recycle' || posix.normalize(hostPath.path) !== '/') return;
  const detail = "may not be 'recycle' for a hostPath mount of '/'";
  errors.forbidden(`${field}.persistentVolumeReclaimPolicy`, detail);
}

function checkAttributesClass(errors: FieldErrors, field: string, spec: PersistentVolumeSpec): void {
  const name = spec.volumeAttributesClassName;
  if (name === undefined) return;
  if (name === '') errors.required(`${field}.volumeAttributesClassName`, 'an empty string is disallowed');
  else checkClassName(errors, `${field}.volumeAttributesClassName`, name);
  if (spec.csi === undefined) {
    errors.required(`${field}.csi`, 'has to be specified when using volumeAttributesClassName');
  }
}
