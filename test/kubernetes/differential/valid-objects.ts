/** Random objects may be invalid in many ways, but a server accepts only some of them. These functions fix what the server would reject. */
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import type {
  PersistentVolume,
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
} from '../../../src/kube/api/core.ts';
import type { CSIStorageCapacity, StorageClass } from '../../../src/kube/api/storage.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { comparableSize, withUniqueClaims, withUniquePorts } from './differences.ts';

export function makeValid(objects: ClusterObjects): ClusterObjects {
  const claims = (objects.PersistentVolumeClaim ?? []).map(validClaim);
  return {
    ...objects,
    PersistentVolume: (objects.PersistentVolume ?? []).map(validVolume),
    PersistentVolumeClaim: claims,
    StorageClass: (objects.StorageClass ?? []).map(validClass),
    CSIStorageCapacity: (objects.CSIStorageCapacity ?? []).map(validCapacity),
    Pod: withUniqueClaims(withUniquePorts(objects.Pod ?? []), claims),
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

function validVolume(volume: PersistentVolume): PersistentVolume {
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
      accessModes: validModes(spec.accessModes),
      capacity: { storage: comparableSize(spec.capacity?.storage ?? '1Gi') },
    },
  };
}

export function validClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { volumeAttributesClassName, resources, ...spec } = claim.spec ?? {};
  const isNamed = volumeAttributesClassName !== undefined && volumeAttributesClassName !== '';
  const { [annotations.pool]: _ours, ...others } = claim.metadata?.annotations ?? {};
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations: others },
    spec: {
      ...spec,
      resources: { requests: { storage: comparableSize(resources?.requests?.storage ?? '1Gi') } },
      accessModes: validModes(spec.accessModes),
      ...(isNamed && { volumeAttributesClassName }),
    },
  };
}

function validModes(
  modes: readonly PersistentVolumeAccessMode[] = [],
): readonly PersistentVolumeAccessMode[] {
  if (modes.length === 0) return ['ReadWriteOnce'];
  return modes.includes('ReadWriteOncePod') ? ['ReadWriteOncePod'] : modes;
}

function validClass({ allowedTopologies, ...rest }: StorageClass): StorageClass {
  const terms = (allowedTopologies ?? []).filter(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ values }) => (values?.length ?? 0) > 0),
  );
  return terms.length === 0 ? rest : { ...rest, allowedTopologies: terms };
}

function validCapacity({ capacity, maximumVolumeSize, ...rest }: CSIStorageCapacity): CSIStorageCapacity {
  return {
    ...rest,
    ...(capacity !== undefined && { capacity: comparableSize(capacity) }),
    ...(maximumVolumeSize !== undefined && { maximumVolumeSize: comparableSize(maximumVolumeSize) }),
  };
}
