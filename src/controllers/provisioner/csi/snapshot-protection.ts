import type { Cluster } from '../../../cluster/cluster.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { isReason } from '../../../kube/api-error.ts';
import { parseKey } from '../../../kube/object-key.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { textOf } from '../../../kube/wire.ts';
import { removeFinalizer } from '../../../reconcile/remove-finalizer.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { Log } from '../../../runtime/log.ts';
import { intentOf } from '../intent.ts';
import type { ContentSource } from './content-question.ts';
import { snapshotGroup, type VolumeSnapshot, volumeSnapshots } from './snapshot-objects.ts';

/** On a VolumeSnapshot from which a volume is being created. External-provisioner has the same name for it. */
export const snapshotFinalizer = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';

/** As often as external-provisioner looks for finalizers that a crash has left (`--snapshot-orphan-sweep-interval`). */
const sweepIntervalMs = 300_000;

/**
 * Before CreateVolume, so that the snapshot exists as long as the driver reads it. {@link releaseSnapshot} removes it when the volume is recorded,
 * or {@link sweepSnapshots} after a crash. Without the right to change snapshots, volumes are created without the protection, as
 * external-provisioner does.
 */
export async function protectSnapshot(
  cluster: Cluster,
  content: ContentSource,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  if (content.kind !== 'snapshot') return;
  const snapshots = cluster.resource(volumeSnapshots);
  const { namespace, name = '', uid } = content.source.metadata ?? {};
  // Read again: a repetition has the plan of the first attempt.
  const snapshot = await undefinedIfNotFound(snapshots.get({ namespace, name }, { signal }));
  const { finalizers = [], resourceVersion, deletionTimestamp } = snapshot?.metadata ?? {};
  if (snapshot?.metadata?.uid !== uid || isProtected(snapshot)) return;
  // A finalizer cannot be added any more; the driver decides whether the snapshot still exists.
  if (deletionTimestamp !== undefined) return;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, snapshotFinalizer] } };
  const patch = snapshots.patch({ namespace, name }, { type: 'merge', body }, { signal });
  await ignoreForbidden(patch, log, `VolumeSnapshot ${namespace}/${name} is not protected while it is read`);
}

/**
 * When the claim needs the snapshot no more. It stays protected while a volume for another claim is being created from it; claims that
 * have not begun protect it themselves.
 */
export async function releaseSnapshot(
  cluster: Cluster,
  claim: PersistentVolumeClaim,
  { claims, log }: SnapshotRelease,
  signal: AbortSignal,
): Promise<void> {
  const key = snapshotSourceKey(claim);
  if (key === undefined) return;
  const snapshot = await undefinedIfNotFound(
    cluster.resource(volumeSnapshots).get(parseKey(key), { signal }),
  );
  if (snapshot === undefined || !isProtected(snapshot)) return;
  for (const other of claims)
    if (other.metadata?.uid !== claim.metadata?.uid && isBeingRestored(other, key)) return;
  await unprotect(cluster, snapshot, log, signal);
}

/** Removes finalizers of claims that were deleted, or whose process crashed. */
export async function sweepSnapshots(
  cluster: Cluster,
  { claims, log }: SnapshotRelease,
  signal: AbortSignal,
): Promise<Requeue> {
  const found = await ignoreForbidden(
    undefinedIfNotFound(cluster.resource(volumeSnapshots).list({ signal })),
    log,
    'VolumeSnapshots are not searched for finalizers that are left over',
  );
  const left = (found?.items ?? []).filter(isProtected);
  if (left.length > 0) {
    const waiting = new Set([...claims].filter(isWaiting).map(snapshotSourceKey));
    for (const snapshot of left) {
      const { namespace, name } = snapshot.metadata ?? {};
      if (!waiting.has(`${namespace}/${name}`)) await unprotect(cluster, snapshot, log, signal);
    }
  }
  return { afterMs: sweepIntervalMs };
}

interface SnapshotRelease {
  /** All claims. */
  readonly claims: Iterable<PersistentVolumeClaim>;
  readonly log: Log;
}

/** The key of the snapshot that the claim's volume is filled with. */
function snapshotSourceKey({ metadata, spec }: PersistentVolumeClaim): string | undefined {
  const source = spec?.dataSource ?? spec?.dataSourceRef ?? undefined;
  if (source?.kind !== 'VolumeSnapshot' || textOf(source.apiGroup) !== snapshotGroup) return undefined;
  return `${metadata?.namespace}/${source.name}`;
}

export function isProtected(snapshot: VolumeSnapshot | undefined): boolean {
  return (snapshot?.metadata?.finalizers ?? []).includes(snapshotFinalizer);
}

function isBeingRestored(claim: PersistentVolumeClaim, key: string): boolean {
  return intentOf(claim) !== undefined && snapshotSourceKey(claim) === key;
}

/** Snapshots of other drivers have the same finalizer, from external-provisioner. It keeps it while a claim is pending. */
function isWaiting({ spec }: PersistentVolumeClaim): boolean {
  return textOf(spec?.volumeName) === '';
}

/** A conflict means that the snapshot changed; the next sweep reads it again. */
async function unprotect(
  cluster: Cluster,
  snapshot: VolumeSnapshot,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = snapshot.metadata ?? {};
  try {
    const removal = removeFinalizer(cluster.resource(volumeSnapshots), snapshot, snapshotFinalizer, signal);
    await ignoreForbidden(removal, log, `the finalizer of VolumeSnapshot ${namespace}/${name} stays`);
  } catch (error) {
    if (!isReason(error, 'Conflict')) throw error;
  }
}

async function ignoreForbidden<T>(
  request: Promise<T>,
  log: Log,
  consequence: string,
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    log.debug(`no right to change VolumeSnapshots: ${consequence}`, { error });
    return undefined;
  }
}
