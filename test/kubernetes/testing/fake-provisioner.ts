import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/kube/api/core.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../../src/kube/resources.ts';

/** The provisioner's name in classes. */
export const fakeProvisionerName = 'disk.example.com';
/** Claims of this class get a volume of a CSI driver, all others an NFS volume. */
export const driverClass = 'growing';
/** Claims of this class get their volume when a node is selected. */
export const lateClass = 'late';

const pollMs = 150;
const selectedNode = 'volume.kubernetes.io/selected-node';
const provisioner = 'volume.kubernetes.io/storage-provisioner';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';

/**
 * Simulates an external provisioner: it creates a volume for every claim that is annotated with its name, once a node is selected if the
 * class waits for one, and deletes released volumes.
 */
export async function runFakeProvisioner(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [claims, volumes, classes] = await Promise.all([
      cluster.resource(persistentVolumeClaims).list(),
      cluster.resource(persistentVolumes).list(),
      cluster.resource(storageClasses).list(),
    ]);
    const waiting = classes.items.filter((each) => each.volumeBindingMode === 'WaitForFirstConsumer');
    const waits = new Set(waiting.map(({ metadata }) => metadata?.name));
    for (const claim of claims.items) if (isOurs(claim, waits)) await makeDisk(cluster, claim);
    for (const volume of volumes.items) if (isReleased(volume)) await removeDisk(cluster, volume);
    await sleep(pollMs);
  }
}

function isOurs({ metadata, spec, status }: PersistentVolumeClaim, waits: ReadonlySet<unknown>): boolean {
  const { annotations = {} } = metadata ?? {};
  if (annotations[provisioner] !== fakeProvisionerName || status?.phase !== 'Pending' || spec?.volumeName)
    return false;
  return !waits.has(spec?.storageClassName) || annotations[selectedNode] !== undefined;
}

async function makeDisk(cluster: Cluster, { metadata, spec }: PersistentVolumeClaim): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  const source =
    spec?.storageClassName === driverClass
      ? { csi: { driver: fakeProvisionerName, volumeHandle: uid } }
      : { nfs: { server: 'nfs', path: '/disk' } };
  const volume: PersistentVolume = {
    metadata: { name: `pvc-${uid}`, annotations: { [provisionedBy]: fakeProvisionerName } },
    spec: {
      capacity: { storage: spec?.resources?.requests?.storage ?? '' },
      accessModes: spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec?.storageClassName ?? '',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      ...source,
    },
  };
  await unless('AlreadyExists', cluster.resource(persistentVolumes).create(volume));
}

function isReleased({ metadata, status }: PersistentVolume): boolean {
  return metadata?.annotations?.[provisionedBy] === fakeProvisionerName && status?.phase === 'Released';
}

async function removeDisk(cluster: Cluster, { metadata }: PersistentVolume): Promise<void> {
  if (metadata?.deletionTimestamp !== undefined) return;
  await unless('NotFound', cluster.resource(persistentVolumes).delete({ name: metadata?.name ?? '' }));
}

async function unless(reason: 'AlreadyExists' | 'NotFound', call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isReason(error, reason)) throw error;
  }
}
