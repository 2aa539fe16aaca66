import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../validation/names.ts';

/**
 * What a claim is to be filled with is said in two fields. `dataSource` is the old one, for claims and snapshots only;
 * `dataSourceRef` the new one, for anything. Each is filled in from the other, so that old and new readers see the same.
 */
export function normalizeDataSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): void {
  dropOtherNamespace(spec, old);
  dropUnknownSource(spec, old);
  copyDataSources(spec);
}

/** Also of a claim that was stored before both fields were. */
export function copyDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) spec.dataSourceRef = { ...dataSource };
  else if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    spec.dataSource = { apiGroup, kind, name };
  }
}

export function checkDataSources(
  errors: FieldErrors,
  field: string,
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
  allowsAnyGroup: boolean,
): void {
  if (dataSource !== undefined) {
    checkReference(errors, `${field}.dataSource`, dataSource, allowsAnyGroup);
  }
  if (dataSourceRef !== undefined) {
    checkReference(errors, `${field}.dataSourceRef`, dataSourceRef, allowsAnyGroup);
    const { namespace = '' } = dataSourceRef;
    if (namespace !== '') {
      errors.invalidFor(`${field}.dataSourceRef.namespace`, namespace, dnsLabelProblems(namespace));
    }
  }
  if (dataSource === undefined || dataSourceRef === undefined) return;
  if (dataSourceRef.namespace) {
    errors.invalid(field, shownPath, 'may not be specified when dataSourceRef.namespace is specified');
  } else if (!isSameReference(dataSource, dataSourceRef)) {
    errors.invalid(field, shownPath, 'must match dataSourceRef');
  }
}

/** Kubernetes shows the path here, of which JSON sees nothing. */
const shownPath = {};

function checkReference(
  errors: FieldErrors,
  field: string,
  { apiGroup, kind, name }: TypedLocalObjectReference,
  allowsAnyGroup: boolean,
): void {
  if (name === '') errors.required(`${field}.name`);
  if (kind === '') errors.required(`${field}.kind`);
  if (!apiGroup) {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    if (kind !== 'PersistentVolumeClaim') errors.invalid(field, kind, detail);
  } else if (!allowsAnyGroup) {
    errors.invalidFor(`${field}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup));
  }
}

function isSameReference(source: TypedLocalObjectReference, reference: TypedObjectReference): boolean {
  return (
    (source.apiGroup ?? null) === (reference.apiGroup ?? null) &&
    source.kind === reference.kind &&
    source.name === reference.name
  );
}

/** Sources of other namespaces are a feature that is off unless a cluster asks for it. */
function dropOtherNamespace(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): void {
  if (spec.dataSourceRef?.namespace && old?.dataSourceRef === undefined) delete spec.dataSourceRef;
}

/** The old field silently forgot what it did not know, and still does where the new one is not used. */
function dropUnknownSource(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): void {
  if (old?.dataSource !== undefined || old?.dataSourceRef !== undefined) return;
  if (spec.dataSource === undefined || spec.dataSourceRef !== undefined) return;
  const { apiGroup, kind } = spec.dataSource;
  const isClaim = kind === 'PersistentVolumeClaim' && !apiGroup;
  const isSnapshot = kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
  if (!isClaim && !isSnapshot) delete spec.dataSource;
}
