import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { annotations } from '../../../../kube/well-known.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkImmutable } from '../../../validation/immutable.ts';
import { compareQuantityTexts, equalResources } from '../../../validation/quantities.ts';
import { copyDataSources } from './claim-data-source.ts';
import { betaClassOf } from './storage-class-name.ts';

/**
 * A claim's spec is immutable, with these exceptions: volumeName may be set once, storageClassName may be set if it was
 * absent, and a bound claim may request more storage or another VolumeAttributesClass.
 */
export function checkClaimUpdate(
  errors: FieldErrors,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const isMovedClass = movesClassToSpec(claim, old);
  if (!isMovedClass) {
    const field = `metadata.annotations.${annotations.betaStorageClass}`;
    checkImmutable(errors, field, betaClassOf(claim.metadata) ?? '', betaClassOf(old.metadata) ?? '');
  }
  const isClassAllowed = isMovedClass || setsFirstClass(claim, old);
  if (!isSameSpec(withoutAllowedChanges(claim, old, isClassAllowed), comparableOld(claim, old))) {
    errors.forbidden('spec', immutableSpec);
  }
  checkSizeUpdate(errors, claim, old);
  checkImmutable(errors, 'volumeMode', claim.spec.volumeMode, old.spec.volumeMode);
  checkAttributesClassUpdate(errors, claim, old);
}

const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Moves the class from the annotation to the field: the name must be the same, and the annotation may stay or go. */
function movesClassToSpec(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const oldClass = betaClassOf(old.metadata);
  const newClass = betaClassOf(claim.metadata);
  return (
    oldClass !== undefined &&
    old.spec.storageClassName === undefined &&
    claim.spec.storageClassName === oldClass &&
    (newClass === undefined || newClass === oldClass)
  );
}

function setsFirstClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const oldClass = betaClassOf(old.metadata);
  const newClass = claim.spec.storageClassName;
  return (
    newClass !== undefined &&
    old.spec.storageClassName === undefined &&
    (oldClass === undefined || oldClass === newClass)
  );
}

function withoutAllowedChanges(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  isClassAllowed: boolean,
): PersistentVolumeClaimSpec {
  const spec = { ...claim.spec };
  if (isClassAllowed) spec.storageClassName = old.spec.storageClassName;
  if (claim.status.phase !== 'Bound') return spec;
  spec.volumeAttributesClassName = old.spec.volumeAttributesClassName;
  const { requests } = spec.resources ?? {};
  if (requests !== undefined) {
    const storage = old.spec.resources?.requests?.storage ?? '0';
    spec.resources = { ...spec.resources, requests: { ...requests, storage } };
  }
  return spec;
}

function comparableOld(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const spec = { ...old.spec };
  copyDataSources(spec);
  return old.spec.volumeName ? spec : { ...spec, volumeName: claim.spec.volumeName };
}

function isSameSpec(a: PersistentVolumeClaimSpec, b: PersistentVolumeClaimSpec): boolean {
  const { resources: aResources, ...aRest } = a;
  const { resources: bResources, ...bRest } = b;
  return (
    isSemanticallyEqual(aRest, bRest) &&
    // An empty selector differs from an absent one.
    (a.selector === undefined) === (b.selector === undefined) &&
    equalResources(aResources?.requests, bResources?.requests) &&
    equalResources(aResources?.limits, bResources?.limits)
  );
}

/**
 * A claim may request less storage to recover from a failed expansion, but not less than its capacity: volumes never
 * shrink.
 */
function checkSizeUpdate(
  errors: FieldErrors,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const size = claim.spec.resources?.requests?.storage;
  if (compareQuantityTexts(size, old.spec.resources?.requests?.storage) >= 0) return;
  if (compareQuantityTexts(size, old.status.capacity?.storage) > 0) return;
  errors.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity');
}

function checkAttributesClassUpdate(
  errors: FieldErrors,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const name = claim.spec.volumeAttributesClassName;
  if (name === old.spec.volumeAttributesClassName) return;
  if (old.status.currentVolumeAttributesClassName === undefined || (name !== undefined && name !== ''))
    return;
  const to = name === undefined ? 'nil' : 'empty string';
  const detail = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  errors.forbidden('spec.volumeAttributesClassName', detail);
}
