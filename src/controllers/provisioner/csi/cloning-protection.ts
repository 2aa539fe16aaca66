import type { Cluster } from '../../../cluster/cluster.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { parseKey } from '../../../kube/object-key.ts';
import { persistentVolumeClaims } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { textOf } from '../../../kube/wire.ts';
import { removeFinalizer } from '../../../reconcile/remove-finalizer.ts';
import type { ContentSource } from './content-question.ts';

/** On a claim that is being cloned: it is kept until no clone is waiting for it. External-provisioner has the same name for it. */
export const cloningFinalizer = 'provisioner.storage.kubernetes.io/cloning-protection';

/** Before CreateVolume, so that the source exists as long as the driver reads it. A crash afterwards leaves a finalizer that `releaseCloneSource` removes. */
export async function protectCloneSource(
  cluster: Cluster,
  content: ContentSource,
  signal: AbortSignal,
): Promise<void> {
  if (content.kind !== 'clone') return;
  const { namespace, name = '', uid } = content.source.metadata ?? {};
  const claims = cluster.resource(persistentVolumeClaims);
  const source = await claims.get({ namespace, name }, { signal });
  const { finalizers = [], resourceVersion, deletionTimestamp } = source.metadata ?? {};
  if (source.metadata?.uid !== uid || finalizers.includes(cloningFinalizer)) return;
  // A finalizer cannot be added any more; the driver decides whether the source still exists.
  if (deletionTimestamp !== undefined) return;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, cloningFinalizer] } };
  await claims.patch({ namespace, name }, { type: 'merge', body }, { signal });
}

/** Removes the finalizer of a claim that is being deleted, once no claim waits for a clone of it. */
export async function releaseCloneSource(
  cluster: Cluster,
  key: string,
  siblings: Iterable<PersistentVolumeClaim>,
  signal: AbortSignal,
): Promise<undefined> {
  const claims = cluster.resource(persistentVolumeClaims);
  const source = await undefinedIfNotFound(claims.get(parseKey(key), { signal }));
  if (source === undefined || !isProtectedCloneSource(source)) return;
  for (const claim of siblings) if (isWaitingForClone(claim) && cloneSourceKey(claim) === key) return;
  await removeFinalizer(claims, source, cloningFinalizer, signal);
}

/** Whether the claim is being deleted and only waits for its clones. */
export function isProtectedCloneSource({ metadata }: PersistentVolumeClaim): boolean {
  return metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cloningFinalizer);
}

/** The key of the claim that this one is a clone of. */
export function cloneSourceKey({ metadata, spec }: PersistentVolumeClaim): string | undefined {
  const source = spec?.dataSource ?? spec?.dataSourceRef ?? undefined;
  if (source?.kind !== 'PersistentVolumeClaim' || textOf(source.apiGroup) !== '') return undefined;
  return `${metadata?.namespace}/${source.name}`;
}

function isWaitingForClone({ spec }: PersistentVolumeClaim): boolean {
  return textOf(spec?.volumeName) === '';
}
