import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { driverClassName, sizeOf } from '../simulated-driver.ts';
import type { Invariant, StorageFacts } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/**
 * Checked when the scheduler selects a node for a claim: what it has promised there and what exists there fit into the pool. The
 * exceptions: a pool may shrink after a promise, and a figure may be too large; the limit is then the largest that was published. And the
 * write of a scheduler may be stored after that scheduler has ended: the next one could not know of it, so this claim does not count.
 */
export const promisesFitTheirPool: Invariant = {
  name: 'what is promised and what exists fit into the pool',
  onVersion: ({ resource, key, before, after }, state, storage) => {
    if (resource !== 'persistentvolumeclaims' || storage === undefined) return undefined;
    const node = selectedNodeOf(after as PersistentVolumeClaim | undefined);
    if (node === undefined || node === selectedNodeOf(before as PersistentVolumeClaim | undefined))
      return undefined;
    if (storage.wasSelectedLate(after?.metadata?.uid ?? '', node)) return undefined;
    const bytes = promisedBytes(node, state, storage) + usedBytes(node, storage);
    const limit = storage.limitBytes(node);
    return bytes <= limit ? undefined : `claim ${key} on ${node}: ${bytes} bytes in a pool of ${limit}`;
  },
};

/** The node for which the driver has to create a volume. */
function selectedNodeOf(claim: PersistentVolumeClaim | undefined): string | undefined {
  if (claim?.spec?.storageClassName !== driverClassName) return undefined;
  return claim.metadata?.annotations?.[annotations.selectedNode];
}

function promisedBytes(node: string, state: StoredObjects, storage: StorageFacts): number {
  let bytes = 0;
  for (const claim of state.values(persistentVolumeClaims)) {
    const { uid = '' } = claim.metadata ?? {};
    const volume = volumeNameOf(uid);
    const isCreated = storage.volumes.has(volume) || state.get(persistentVolumes, volume) !== undefined;
    const isBound = (claim.spec?.volumeName ?? '') !== '';
    const isPromised = selectedNodeOf(claim) === node && !storage.wasSelectedLate(uid, node);
    if (isPromised && !isCreated && !isBound)
      bytes += sizeOf(String(claim.spec?.resources?.requests?.storage ?? '0'));
  }
  return bytes;
}

function usedBytes(node: string, storage: StorageFacts): number {
  let bytes = 0;
  for (const [name, volume] of storage.volumes)
    if (volume.node === node && !storage.wasSelectedLate(claimUidOf(name), node)) bytes += volume.bytes;
  return bytes;
}

function volumeNameOf(claimUid: string): string {
  return `pvc-${claimUid}`;
}

function claimUidOf(volumeName: string): string {
  return volumeName.replace(/^pvc-/, '');
}
