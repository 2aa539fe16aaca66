import { EnforcingDriver, type EnforcingDriverOptions } from '../../../csi/testing/enforcing-driver.ts';
import type { CSIPersistentVolumeSource } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { csiNodes, persistentVolumes, volumeAttachments } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

export const driverName = 'enforcing.example.com';

/** A driver that attaches volumes, and has the volume `handle`. */
export function attachingDriver(options: Partial<EnforcingDriverOptions> = {}): EnforcingDriver {
  const driver = new EnforcingDriver({
    pools: { n1: 10n },
    controllerCapabilities: ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'],
    ...options,
  });
  driver.addVolume('handle', 'n1', 1n);
  return driver;
}

export async function makeVolume(
  { cluster }: VirtualTimeCluster,
  csi: Partial<CSIPersistentVolumeSource> = {},
): Promise<void> {
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'] as const,
    csi: { driver: driverName, volumeHandle: 'handle', ...csi },
  };
  await cluster.resource(persistentVolumes).create({ metadata: { name: 'v' }, spec });
}

export async function makeCsiNode({ cluster }: VirtualTimeCluster, name = 'n1'): Promise<void> {
  const drivers = [{ name: driverName, nodeID: `id-of-${name}`, topologyKeys: [] }];
  await cluster.resource(csiNodes).create({ metadata: { name }, spec: { drivers } });
}

export async function makeAttachment({ cluster }: VirtualTimeCluster): Promise<void> {
  const spec = { attacher: driverName, nodeName: 'n1', source: { persistentVolumeName: 'v' } };
  await cluster.resource(volumeAttachments).create({ metadata: { name: 'a' }, spec });
}

export async function deleteAttachment({ cluster }: VirtualTimeCluster): Promise<void> {
  await cluster.resource(volumeAttachments).delete({ name: 'a' });
}

export async function attachmentOf({ cluster }: VirtualTimeCluster): Promise<VolumeAttachment | undefined> {
  return await undefinedIfNotFound(cluster.resource(volumeAttachments).get({ name: 'a' }));
}

/** The finalizers of the volume; undefined if it no longer exists. */
export async function volumeFinalizers({
  cluster,
}: VirtualTimeCluster): Promise<readonly string[] | undefined> {
  const volume = await undefinedIfNotFound(cluster.resource(persistentVolumes).get({ name: 'v' }));
  return volume && (volume.metadata?.finalizers ?? []);
}
