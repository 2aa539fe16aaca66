import { isReason } from '../../api-error.ts';
import type { Kind } from '../kinds/kind.ts';
import type { DeletionRequest, ListAnswer, ListQuery, WriteContext } from './api.ts';
import type { RegistryContext } from './context.ts';
import { deleteObject } from './delete.ts';
import { listObjects } from './list.ts';

export interface CollectionDeletion {
  readonly query: ListQuery;
  readonly options: DeletionRequest;
  readonly write: WriteContext;
}

/**
 * DELETE of a collection: one deletion after another of what a list shows. Not atomic, as in Kubernetes; whoever is interrupted
 * repeats it. What others delete meanwhile is fine.
 */
export async function deleteCollection(
  context: RegistryContext,
  kind: Kind,
  { query, options, write }: CollectionDeletion,
): Promise<ListAnswer> {
  const answer = await listObjects(context, kind, query);
  await Promise.all(
    answer.items.map(async ({ object: { metadata } }) => {
      try {
        const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
        await deleteObject(context, kind, key, options, write);
      } catch (error) {
        if (!isReason(error, 'NotFound')) throw error;
      }
    }),
  );
  return answer;
}
