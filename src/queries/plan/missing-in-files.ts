import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { canProvision } from '../../kube/volumes.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import type { Note } from '../view/note.ts';
import { effects } from '../view/unseen-notes.ts';

/** Kinds that the files do not have and that a prediction depends on. Every cluster that has volumes has them, so they were left out. */
export function missingInFiles({ snapshot, isFromFiles, isComplete }: ClusterView): readonly Note[] {
  if (isFromFiles !== true || isComplete === true) return [];
  const classes = [...snapshot.values('StorageClass')].filter(canProvision);
  const hasClaims = snapshot.count('PersistentVolumeClaim') > 0;
  const usesDrives = classes.some(({ provisioner }) => provisioner === drivesDriver);
  const usesOthers = classes.some(({ provisioner }) => provisioner !== drivesDriver);
  const tracks = [...snapshot.values('CSIDriver')].some(({ spec }) => spec?.storageCapacity === true);
  const hasPools = snapshot.count('CSIStorageCapacity') + snapshot.count('DriverCapacity') > 0;
  const noCapacity = 'a driver publishes its capacity, so nothing more of it fits';
  const needs: readonly (readonly [IndexedKind, string, boolean, string?])[] = [
    ['Pod', 'pods -A', true],
    ['PersistentVolume', 'pv', hasClaims],
    ['StorageClass', 'storageclasses', hasClaims],
    ['CSIDriver', 'csidrivers', usesOthers],
    ['CSIStorageCapacity', 'csistoragecapacities -A', tracks && usesOthers && !hasPools, noCapacity],
    ['Drive', 'drives', usesDrives],
  ];
  return needs
    .filter(([kind, , matters]) => matters && snapshot.count(kind) === 0)
    .map(([kind, resource, , effect = effects[kind]]) => ({
      about: 'missing',
      text: `there is no ${kind} in the files: ${effect}; add the output of kubectl get ${resource} -o yaml`,
    }));
}

/** Kinds of which something may be on a node or a drive. */
const drainedKinds: ReadonlySet<string> = new Set(['Pod', 'PersistentVolume', 'PersistentVolumeClaim']);

/**
 * Kinds that the caller may not list in all namespaces, though what is on a drained node or drive depends on them. A cluster without our definitions forbids
 * its Drives too, to a user who has no right to list them; there, no class and no volume is of them.
 */
export function unreadForDrain({
  snapshot,
  unseen = [],
}: Pick<ClusterView, 'snapshot' | 'unseen'>): readonly string[] {
  const hasDrives =
    [...snapshot.values('StorageClass')].some(({ provisioner }) => provisioner === drivesDriver) ||
    [...snapshot.values('PersistentVolume')].some(({ spec }) => spec?.csi?.driver === drivesDriver);
  return unseen.flatMap(({ kind }) =>
    drainedKinds.has(kind) || (kind === 'Drive' && hasDrives) ? [kind] : [],
  );
}
