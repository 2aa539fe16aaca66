import { EnforcingDriver, type EnforcingDriverOptions } from '../../../../csi/testing/enforcing-driver.ts';
import type {
  CSIPersistentVolumeSource,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeNodeAffinity,
} from '../../../../kube/api/core.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../../../kube/resources.ts';
import { annotations } from '../../../../kube/well-known.ts';
import type { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';

const gibi = 1024n ** 3n;

export const claimKey = { namespace: 'default', name: 'data' };
export const driverName = 'enforcing.example.com';

/** A driver with 10Gi, of which the volume `handle` has 1Gi. */
export function driverWithVolume(options: Partial<EnforcingDriverOptions> = {}): EnforcingDriver {
  const driver = new EnforcingDriver({ pools: { n1: 10n * gibi }, ...options });
  driver.addVolume('handle', 'n1', gibi);
  return driver;
}

/** A claim of 1Gi that is bound to the driver's volume, in a class that allows expansion. */
export async function makeCsiClaim(
  { cluster }: VirtualTimeCluster,
  { csi = {}, attributesClass, nodeAffinity, selectedNode }: CsiClaimOptions = {},
): Promise<void> {
  await cluster
    .resource(storageClasses)
    .create({ metadata: { name: 'fast' }, provisioner: driverName, allowVolumeExpansion: true });
  const claims = cluster.resource(persistentVolumeClaims);
  const accessModes = ['ReadWriteOnce'] as const;
  const named = attributesClass === undefined ? {} : { volumeAttributesClassName: attributesClass };
  const common = { accessModes, storageClassName: 'fast', ...named };
  const resources = { requests: { storage: '1Gi' } };
  const claim = await claims.create({
    metadata: {
      ...claimKey,
      ...(selectedNode && { annotations: { [annotations.selectedNode]: selectedNode } }),
    },
    spec: { ...common, resources, volumeName: 'v' },
  });
  const claimRef = { ...claimKey, uid: claim.metadata?.uid ?? '' };
  const source = { driver: driverName, volumeHandle: 'handle', ...csi };
  const spec = {
    ...common,
    capacity: { storage: '1Gi' },
    claimRef,
    csi: source,
    ...(nodeAffinity && { nodeAffinity }),
  };
  await cluster.resource(persistentVolumes).create({ metadata: { name: 'v' }, spec });
  const current = attributesClass === undefined ? {} : { currentVolumeAttributesClassName: attributesClass };
  const status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes, ...current };
  await claims.patch(claimKey, { type: 'merge', body: { status } }, { subresource: 'status' });
}

export interface CsiClaimOptions {
  readonly csi?: Partial<CSIPersistentVolumeSource>;
  /** The VolumeAttributesClass that the volume was made with. */
  readonly attributesClass?: string;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly selectedNode?: string;
}

export async function requestSize({ cluster }: VirtualTimeCluster, storage: string): Promise<void> {
  const body = { spec: { resources: { requests: { storage } } } };
  await cluster.resource(persistentVolumeClaims).patch(claimKey, { type: 'merge', body });
}

export async function readClaim({ cluster }: VirtualTimeCluster): Promise<PersistentVolumeClaim> {
  return await cluster.resource(persistentVolumeClaims).get(claimKey);
}

export async function readVolume({ cluster }: VirtualTimeCluster): Promise<PersistentVolume> {
  return await cluster.resource(persistentVolumes).get({ name: 'v' });
}
