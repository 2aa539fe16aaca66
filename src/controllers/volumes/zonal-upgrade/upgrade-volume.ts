import type { Cluster } from '../../../cluster/cluster.ts';
import type { Node, PersistentVolume, Pod, VolumeNodeAffinity } from '../../../kube/api/core.ts';
import { claimNamesOf } from '../../../kube/claims-of-pod.ts';
import { isFinished } from '../../../kube/pods.ts';
import { persistentVolumes, pods } from '../../../kube/resources.ts';
import { decideUpgrade, type ZonalUpgrade } from './decide-upgrade.ts';

export interface UpgradeOptions {
  readonly nodes: readonly Node[];
  /** Decides, and writes nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

/**
 * Decides about a volume that was just read, and writes the affinity to that version: if another client changed the volume
 * meanwhile, this fails with `Conflict`. It is a single write, so there is nothing to clean up after a crash.
 */
export async function upgradeVolume(
  cluster: Cluster,
  volume: PersistentVolume,
  { nodes, isDryRun, signal }: UpgradeOptions,
): Promise<ZonalUpgrade> {
  const first = decideUpgrade(volume, { nodes, users: [] });
  if (first.kind !== 'upgrade') return first;
  // Read from the server, not from a cache: the write cannot be undone.
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

/** The pods on a node that use the claim of the volume; all candidates are in the claim's namespace. */
export function usersAmong(candidates: readonly Pod[], { spec }: PersistentVolume): readonly Pod[] {
  const name = spec?.claimRef?.name ?? '';
  return candidates.filter((pod) => isPlaced(pod) && claimNamesOf(pod).includes(name));
}

/** On a node and not finished. */
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
