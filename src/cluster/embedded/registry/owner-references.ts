import type { StoredObject } from '../kinds/kind.ts';
import { deepEqual } from '../validation/deep-equal.ts';
import type { WriteContext } from './api.ts';

/** An owner that is named twice owns once; whoever writes so is told. */
export function dropRepeatedOwners({ metadata }: StoredObject, write: WriteContext): void {
  const owners = metadata.ownerReferences ?? [];
  const distinct = owners.filter(
    (owner, i) => owners.findIndex((other) => other.uid === owner.uid && deepEqual(other, owner)) === i,
  );
  if (distinct.length === owners.length) return;
  const repeated = owners.filter((owner) => !distinct.includes(owner)).map(({ uid }) => uid);
  metadata.ownerReferences = distinct;
  write.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}
