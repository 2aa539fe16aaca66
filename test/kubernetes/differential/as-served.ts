/** Random objects may be invalid in many ways, but a server accepts only some of them. These functions fix what the server would reject. */
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import type {
  PersistentVolume,
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
} from '../../../src/kube/api/core.ts';
import type { CSIStorageCapacity, StorageClass } from '../../../src/kube/api/storage.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { comparableSize, withClaimsOfTheirOwn, withPortsOfTheirOwn } from './differences.ts';

export function asServed(objects: ClusterObjects): ClusterObjects {
  const claims = (objects.PersistentVolumeClaim ?? []).map(servedClaim);
  return {
    ...objects,
    PersistentVolume: (objects.PersistentVolume ?? []).map(servedVolume),
    PersistentVolumeClaim: claims,
    StorageClass: (objects.StorageClass ?? []).map(servedClass),
    CSIStorageCapacity: (objects.CSIStorageCapacity ?? []).map(servedCapacity),
    Pod: withClaimsOfTheirOwn(withPortsOfTheirOwn(objects.Pod ?? []), claims),
  };
}

const sources = [
  'csi',
  'awsElasticBlockStore',
  'gcePersistentDisk',
  'azureDisk',
  'cinder',
  'portworxVolume',
  'nfs',
  'local',
];

function servedVolume(volume: PersistentVolume): PersistentVolume {
  const { volumeAttributesClassName, nodeAffinity, ...spec } = volume.spec ?? {};
  const isNamed = volumeAttributesClassName !== undefined && volumeAttributesClassName !== '';
  const hasSource = sources.some((source) => source in spec);
  const hasTerms = (nodeAffinity?.required?.nodeSelectorTerms?.length ?? 0) > 0;
  return {
    ...volume,
    spec: {
      ...spec,
      ...(!hasSource && { hostPath: { path: '/disk' } }),
      ...(hasTerms && nodeAffinity && { nodeAffinity }),
      ...(isNamed && spec.csi && { volumeAttributesClassName }),
      accessModes: servedModes(spec.accessModes),
      capacity: { storage: comparableSize(spec.capacity?.storage ?? '1Gi') },
    },
  };
}

export function servedClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { volumeAttributesClassName, resources, ...spec } = claim.spec ?? {};
  const isNamed = volumeAttributesClassName !== undefined && volumeAttributesClassName !== '';
  const { [annotations.pool]: _ours, ...others } = claim.metadata?.annotations ?? {};
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations: others },
    spec: {
      ...spec,
      resources: { requests: { storage: comparableSize(resources?.requests?.storage ?? '1Gi') } },
      accessModes: servedModes(spec.accessModes),
      ...(isNamed && { volumeAttributesClassName }),
    },
  };
}

function servedModes(
  modes: readonly PersistentVolumeAccessMode[] = [],
): readonly PersistentVolumeAccessMode[] {
  if (modes.length === 0) return ['ReadWriteOnce'];
  return modes.includes('ReadWriteOncePod') ? ['ReadWriteOncePod'] : modes;
}

function servedClass({ allowedTopologies, ...rest }: StorageClass): StorageClass {
  const terms = (allowedTopologies ?? []).filter(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ values }) => (values?.length ?? 0) > 0),
  );
  return terms.length === 0 ? rest : { ...rest, allowedTopologies: terms };
}

function servedCapacity({ capacity, maximumVolumeSize, ...rest }: CSIStorageCapacity): CSIStorageCapacity {
  return {
    ...rest,
    ...(capacity !== undefined && { capacity: comparableSize(capacity) }),
    ...(maximumVolumeSize !== undefined && { maximumVolumeSize: comparableSize(maximumVolumeSize) }),
  };
}
