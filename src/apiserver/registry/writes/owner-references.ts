import type { StoredObject } from '../../kinds/served-kind.ts';
import type { WriteContext } from '../registry.ts';

/** Removes duplicate owner references and warns the writer. */
export function dropDuplicateOwners({ metadata }: StoredObject, write: WriteContext): void {
  const owners = metadata.ownerReferences ?? [];
  // Objects are canonical here, so equal references have equal JSON.
  const distinct = new Map<string, (typeof owners)[number]>();
  const repeated: string[] = [];
  for (const owner of owners) {
    const text = JSON.stringify(owner);
    if (distinct.has(text)) repeated.push(owner.uid);
    else distinct.set(text, owner);
  }
  if (repeated.length === 0) return;
  metadata.ownerReferences = [...distinct.values()];
  write.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}
