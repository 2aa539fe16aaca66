import type { Cluster } from '../../../cluster/cluster.ts';
import type { Node, PersistentVolume, Pod, VolumeNodeAffinity } from '../../../kube/api/core.ts';
import { isFinished } from '../../../kube/pods.ts';
import { persistentVolumes, pods } from '../../../kube/resources.ts';
import { claimNamesOf } from '../claims-of-pod.ts';
import { decideUpgrade, type ZonalUpgrade } from './decide-upgrade.ts';

export interface UpgradeOptions {
  readonly nodes: readonly Node[];
  /** Decides, and writes nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/**
 * Decides about a volume that was read just now, and writes the affinity onto that very version: whoever changed the volume
 * meanwhile makes this fail with `Conflict`. One write does it all, so there is nothing to clean up after a crash.
 */
export async function upgradeVolume(
  cluster: Cluster,
  volume: PersistentVolume,
  { nodes, isDryRun, signal }: UpgradeOptions,
): Promise<ZonalUpgrade> {
  const first = decideUpgrade(volume, { nodes, users: [] });
  if (first.kind !== 'upgrade') return first;
  // The server is asked, not a cache: what is written can't be taken back.
  const users = await usersOf(cluster, volume, signal);
  const upgrade = decideUpgrade(volume, { nodes, users });
  if (upgrade.kind === 'upgrade' && !isDryRun) await write(cluster, volume, upgrade.nodeAffinity, signal);
  return upgrade;
}

async function usersOf(
  cluster: Cluster,
  volume: PersistentVolume,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { namespace } = volume.spec?.claimRef ?? {};
  if (namespace === undefined) return [];
  const { items } = await cluster.resource(pods).list({ namespace, signal });
  return usersAmong(items, volume);
}

/** Those that are on a node with the claim that the volume is for; all are of the claim's namespace. */
export function usersAmong(candidates: readonly Pod[], { spec }: PersistentVolume): readonly Pod[] {
  const name = spec?.claimRef?.name ?? '';
  return candidates.filter((pod) => isPlaced(pod) && claimNamesOf(pod).includes(name));
}

/** On a node and not yet done. */
function isPlaced(pod: Pod): boolean {
  return (pod.spec?.nodeName ?? '') !== '' && !isFinished(pod);
}

async function write(
  cluster: Cluster,
  { metadata }: PersistentVolume,
  nodeAffinity: VolumeNodeAffinity,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', uid, resourceVersion } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, spec: { nodeAffinity } };
  await cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body }, { signal });
}
