import { type ApiError, conflict } from '../../../kube/api-error.ts';
import type { ObjectKey } from '../../../kube/resource.ts';
import type { ServedKind } from '../../kinds/served-kind.ts';
import { storeKey } from '../context/registry-context.ts';

/** Storage prefixes of kinds that Kubernetes does not store under their plural. */
const legacyPaths: Readonly<Record<string, string>> = {
  nodes: 'minions',
  services: 'services/specs',
  endpoints: 'services/endpoints',
  replicationcontrollers: 'controllers',
  customresourcedefinitions: 'apiextensions.k8s.io/customresourcedefinitions',
};

export interface UidMismatch {
  /** The uid in the request. */
  readonly uid: string;
  /** The stored uid; empty if there is no object. */
  readonly found: string;
  readonly isDryRun: boolean;
}

/** The object was replaced by another of the same name. The message contains the storage key. */
export function storageConflict(
  kind: ServedKind,
  key: ObjectKey,
  { uid, found, isDryRun }: UidMismatch,
): ApiError {
  const root = isDryRun ? '' : '/registry';
  const place =
    kind.definition === undefined
      ? (legacyPaths[kind.plural] ?? kind.plural)
      : `${kind.group}/${kind.plural}`;
  const path = `${root}/${place}/${storeKey(kind, key)}`;
  const mismatch = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  return conflict(
    kind,
    key.name,
    `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${mismatch}`,
  );
}
