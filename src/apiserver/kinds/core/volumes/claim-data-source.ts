import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../validation/names.ts';

/**
 * Two fields name the source of a claim's data. `dataSource` is the old one, for claims and snapshots only;
 * `dataSourceRef` is the new one, for any object. Each is filled in from the other, so that clients of either field see
 * the same.
 */
export function normalizeDataSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): void {
  dropOtherNamespace(spec, old);
  dropUnknownSource(spec, old);
  copyDataSources(spec);
}

/** Also for claims that were stored before both fields existed. */
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

/** Kubernetes prints a path value here, which is an empty object in JSON. */
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

/** The feature gate of data sources in other namespaces is off by default. */
function dropOtherNamespace(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): void {
  if (spec.dataSourceRef?.namespace && old?.dataSourceRef === undefined) delete spec.dataSourceRef;
}

/** Kubernetes silently drops a `dataSource` that is neither a claim nor a snapshot, unless `dataSourceRef` is set. */
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
