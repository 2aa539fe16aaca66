import type { ReadAll } from '../../../apiserver/registry/context/operator-rules.ts';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import { nodes, pods } from '../../../kube/resources.ts';
import { decideUpgrade } from './decide-upgrade.ts';
import { usersAmong } from './upgrade-volume.ts';

/**
 * A new volume with topology labels has its affinity from the first write, so that no client sees it without one. A volume
 * that must be refused is accepted unchanged: the controller reports the reason.
 */
export function withZonalAffinity(volume: PersistentVolume, all: ReadAll): PersistentVolume {
  if (decideUpgrade(volume, { nodes: [], users: [] }).kind !== 'upgrade') return volume;
  const { namespace } = volume.spec?.claimRef ?? {};
  const users = namespace === undefined ? [] : usersAmong(all(pods, namespace), volume);
  const upgrade = decideUpgrade(volume, { nodes: all(nodes), users });
  if (upgrade.kind !== 'upgrade') return volume;
  return { ...volume, spec: { ...volume.spec, nodeAffinity: upgrade.nodeAffinity } };
}
