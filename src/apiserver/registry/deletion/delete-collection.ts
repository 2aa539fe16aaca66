import type { Kind, StoredObject } from '../../kinds/served-kind.ts';
import { find, type RegistryContext } from '../context/context.ts';
import { durably } from '../context/durable-result.ts';
import { listObjects } from '../reads/list.ts';
import type { DeletionRequest, ListAnswer, ListQuery, WriteContext } from '../registry.ts';
import { deleteObject, warnOfOrphans } from './delete.ts';

export interface CollectionDeletion {
  readonly query: ListQuery;
  readonly options: DeletionRequest;
  readonly write: WriteContext;
}

/** So many are deleted at a time; others get a turn in between. */
const batchLengthMax = 500;

/**
 * DELETE of a collection: one deletion after another of what a list shows. Not atomic, as in Kubernetes; whoever is interrupted
 * repeats it. What others delete meanwhile is fine, and what they put in its place stays.
 */
export async function deleteCollection(
  context: RegistryContext,
  kind: Kind,
  { query, options, write }: CollectionDeletion,
): Promise<ListAnswer> {
  const answer = await listObjects(context, kind, query);
  // Also where there is nothing to delete.
  warnOfOrphans(kind, options, write);
  for (let start = 0; start < answer.items.length; start += batchLengthMax) {
    const batch = answer.items.slice(start, start + batchLengthMax);
    const deletions = batch.map(({ object }) => deleteListed(context, kind, object, { options, write }));
    await durably(context.store, Promise.all(deletions));
  }
  return answer;
}

async function deleteListed(
  context: RegistryContext,
  kind: Kind,
  { metadata }: StoredObject,
  { options, write }: Pick<CollectionDeletion, 'options' | 'write'>,
): Promise<void> {
  const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
  if (find(context, kind, key)?.snapshot.object.metadata.uid !== metadata.uid) return;
  await deleteObject(context, kind, key, options, write);
}
