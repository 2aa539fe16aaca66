import { nextTurn } from '../../../runtime/next-turn.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { resultWhenDurable } from '../context/durable-result.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import { listObjects } from '../reads/list.ts';
import type { DeletionRequest, ListQuery, SnapshotPage, WriteContext } from '../registry.ts';
import { deleteObject, warnOfOrphans } from './delete.ts';

export interface CollectionDeletion {
  readonly query: ListQuery;
  readonly options: DeletionRequest;
  readonly write: WriteContext;
}

/** How many objects are deleted before other work gets a turn. */
const batchLengthMax = 500;

/**
 * DELETE of a collection: deletes the listed objects one by one. As in Kubernetes it is not atomic; an interrupted
 * caller repeats it. Objects that others delete meanwhile are skipped, and their replacements stay.
 */
export async function deleteCollection(
  context: RegistryContext,
  kind: ServedKind,
  { query, options, write }: CollectionDeletion,
): Promise<SnapshotPage> {
  const page = await listObjects(context, kind, query);
  // Warns even if the list is empty.
  warnOfOrphans(kind, options, write);
  for (let start = 0; start < page.items.length; start += batchLengthMax) {
    const batch = page.items.slice(start, start + batchLengthMax);
    const deletions = batch.map(({ object }) => deleteListed(context, kind, object, { options, write }));
    await resultWhenDurable(context.store, Promise.all(deletions));
    // A dry run waits for no commit.
    await nextTurn();
  }
  return page;
}

async function deleteListed(
  context: RegistryContext,
  kind: ServedKind,
  { metadata }: StoredObject,
  { options, write }: Pick<CollectionDeletion, 'options' | 'write'>,
): Promise<void> {
  const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
  if (findObject(context, kind, key)?.snapshot.object.metadata.uid !== metadata.uid) return;
  await deleteObject(context, kind, key, options, write);
}
