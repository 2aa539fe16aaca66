import { type ApiError, conflict } from '../../api-error.ts';
import type { ObjectKey } from '../../resource.ts';
import type { Kind, StoredObject } from '../kinds/kind.ts';
import { storeKey } from './context.ts';

/** Where Kubernetes keeps some kinds under other names than their plural. */
const legacyPaths: Readonly<Record<string, string>> = {
  nodes: 'minions',
  services: 'services/specs',
  endpoints: 'services/endpoints',
  replicationcontrollers: 'controllers',
};

/** An object of the same name has taken the place of the one that the writer knew. The key is part of the sentence. */
export function storageConflict(kind: Kind, key: ObjectKey, uid: string, found: StoredObject): ApiError {
  const path = `/registry/${legacyPaths[kind.plural] ?? kind.plural}/${storeKey(kind, key)}`;
  const mismatch = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found.metadata.uid}`;
  return conflict(
    kind,
    key.name,
    `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${mismatch}`,
  );
}
