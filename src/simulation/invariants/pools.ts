import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import type { SelectedNode } from '../known-expansions.ts';
import { driverClassName, sizeOf } from '../simulated-driver.ts';
import type { Invariant, StorageFacts, StoredVersion } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/**
 * Checked when the scheduler selects a node for a claim: its promises there and the existing volumes there fit into the pool. The
 * exceptions: a pool may shrink after a promise, and a reported capacity may be too large; the limit is then the largest that was published. And the
 * write of a scheduler may be stored after that scheduler has ended: the next one could not know of it, so this claim does not count. The
 * driver may expand a volume before the scheduler sees the request: then the former size counts.
 */
export const promisesFitTheirPool: Invariant = {
  name: 'what is promised and what exists fit into the pool',
  onVersion: (version, state, storage) => {
    const selected = selectionOf(version, storage);
    if (selected === undefined || storage === undefined) return undefined;
    return problemOf(version.key, selected, { state, storage });
  },
};

/**
 * Checked when the scheduler selects a node for a claim: the pool also has the bytes of the expansions that its scheduler knew, if its capacity report
 * had them. Otherwise the pod takes them, and the driver refuses the expansion.
 */
export const expansionsKeepTheirBytes: Invariant = {
  name: 'a node is selected for a claim only if the pool keeps the bytes of the expansions that the scheduler knows',
  onVersion: (version, state, storage) => {
    const selected = selectionOf(version, storage);
    if (selected === undefined || storage === undefined) return undefined;
    const growth = growthBytes(selected, storage);
    return growth === 0 ? undefined : problemOf(version.key, selected, { state, storage, growth });
  },
};

/** The node that this version of a claim selects. */
function selectionOf(
  { resource, before, after }: StoredVersion,
  storage: StorageFacts | undefined,
): SelectedNode | undefined {
  if (resource !== 'persistentvolumeclaims') return undefined;
  const node = selectedNodeOf(after as PersistentVolumeClaim | undefined);
  if (node === undefined || node === selectedNodeOf(before as PersistentVolumeClaim | undefined))
    return undefined;
  const claimUid = after?.metadata?.uid ?? '';
  return storage?.wasSelectedLate(claimUid, node) === true ? undefined : { claimUid, node };
}

interface PoolFacts {
  readonly state: StoredObjects;
  readonly storage: StorageFacts;
  readonly growth?: number;
}

function problemOf(
  key: string,
  selected: SelectedNode,
  { state, storage, growth = 0 }: PoolFacts,
): string | undefined {
  const { node } = selected;
  const bytes = promisedBytes(node, state, storage) + usedBytes(selected, storage) + growth;
  const limit = storage.limitBytes(node);
  return bytes <= limit ? undefined : `claim ${key} on ${node}: ${bytes} bytes in a pool of ${limit}`;
}

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

function usedBytes(selected: SelectedNode, storage: StorageFacts): number {
  const { node } = selected;
  let bytes = 0;
  for (const [name, volume] of storage.volumes) {
    if (volume.node !== node || storage.wasSelectedLate(claimUidOf(name), node)) continue;
    bytes += Math.min(volume.bytes, Math.max(volume.createdBytes, storage.reservedSizeOf(name, selected)));
  }
  return bytes;
}

/** The bytes that the driver has yet to add to volumes. */
function growthBytes(selected: SelectedNode, storage: StorageFacts): number {
  const { node } = selected;
  let bytes = 0;
  for (const [name, volume] of storage.volumes) {
    if (volume.node !== node || storage.wasSelectedLate(claimUidOf(name), node)) continue;
    bytes += Math.max(0, storage.reservedSizeOf(name, selected) - volume.bytes);
  }
  return bytes;
}

function volumeNameOf(claimUid: string): string {
  return `pvc-${claimUid}`;
}

function claimUidOf(volumeName: string): string {
  return volumeName.replace(/^pvc-/, '');
}
