import type { Cluster } from '../../../../cluster/cluster.ts';
import type {
  PersistentVolume,
  PersistentVolumeAccessMode,
  PersistentVolumeClaim,
  PersistentVolumeMode,
  PersistentVolumePhase,
  PersistentVolumeReclaimPolicy,
  PersistentVolumeSource,
} from '../../../../kube/api/core.ts';
import type { StringMap } from '../../../../kube/api/meta.ts';
import type { StorageClass } from '../../../../kube/api/storage.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../../../kube/resources.ts';
import { annotations, markerValue } from '../../../../kube/well-known.ts';

export const namespace = 'default';

/** A volume as it is found. Without `for` nobody claims it; `uid` says whether the claimRef has the claim's, another, or none. */
export interface InitialVolume {
  readonly name: string;
  readonly size?: string;
  readonly phase?: PersistentVolumePhase;
  readonly for?: string;
  readonly uid?: 'own' | 'other';
  readonly byController?: boolean;
  readonly className?: string;
  readonly labels?: StringMap;
  readonly mode?: PersistentVolumeMode;
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  readonly attributesClass?: string;
  readonly policy?: PersistentVolumeReclaimPolicy;
  readonly marks?: StringMap;
  readonly finalizers?: readonly string[];
  readonly source?: PersistentVolumeSource;
}

/** A claim as it is found. */
export interface InitialClaim {
  readonly name: string;
  readonly size?: string;
  readonly on?: string;
  readonly phase?: 'Pending' | 'Bound' | 'Lost';
  readonly byController?: boolean;
  readonly isComplete?: boolean;
  readonly className?: string;
  readonly selector?: StringMap;
  readonly mode?: PersistentVolumeMode;
  readonly accessModes?: readonly PersistentVolumeAccessMode[];
  readonly attributesClass?: string;
  readonly marks?: StringMap;
}

export interface InitialObjects {
  readonly classes?: readonly StorageClass[];
  readonly claims?: readonly InitialClaim[];
  readonly volumes?: readonly InitialVolume[];
}

export async function createObjects(
  cluster: Cluster,
  { classes = [], claims = [], volumes = [] }: InitialObjects,
): Promise<void> {
  for (const storageClass of classes) await cluster.resource(storageClasses).create(storageClass);
  for (const claim of claims) await createClaim(cluster, claim);
  for (const volume of volumes) await createVolume(cluster, volume);
}

export async function createClaim(cluster: Cluster, sketch: InitialClaim): Promise<void> {
  const client = cluster.resource(persistentVolumeClaims);
  const { name, phase } = sketch;
  await client.create({ metadata: { namespace, name, ...claimMarks(sketch) }, spec: claimSpec(sketch) });
  if (phase === undefined) return;
  const body = { status: { phase } };
  await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

function claimMarks({ byController, isComplete, marks }: InitialClaim): PersistentVolumeClaim['metadata'] {
  return {
    annotations: {
      ...(byController && { [annotations.boundByController]: markerValue }),
      ...(isComplete && { [annotations.bindCompleted]: markerValue }),
      ...marks,
    },
  };
}

function claimSpec(sketch: InitialClaim): NonNullable<PersistentVolumeClaim['spec']> {
  const { size = '1Gi', on, className, selector, mode, accessModes, attributesClass } = sketch;
  return {
    accessModes: accessModes ?? ['ReadWriteOnce'],
    resources: { requests: { storage: size } },
    ...(on !== undefined && { volumeName: on }),
    ...(className !== undefined && { storageClassName: className }),
    ...(selector !== undefined && { selector: { matchLabels: selector } }),
    ...(mode !== undefined && { volumeMode: mode }),
    ...(attributesClass !== undefined && { volumeAttributesClassName: attributesClass }),
  };
}

export async function createVolume(cluster: Cluster, sketch: InitialVolume): Promise<void> {
  const client = cluster.resource(persistentVolumes);
  const { name, labels, byController, marks, finalizers, phase = 'Available' } = sketch;
  const mark = { ...(byController && { [annotations.boundByController]: markerValue }), ...marks };
  await client.create({
    metadata: { name, annotations: mark, ...(labels && { labels }), ...(finalizers && { finalizers }) },
    spec: { ...volumeSpec(sketch), ...(await claimRefOf(cluster, sketch)) },
  });
  await client.patch({ name }, { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
}

function volumeSpec(sketch: InitialVolume): NonNullable<PersistentVolume['spec']> {
  const { size = '1Gi', className, mode, accessModes, attributesClass, policy, source } = sketch;
  return {
    capacity: { storage: size },
    accessModes: accessModes ?? ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: policy ?? 'Retain',
    ...(className !== undefined && { storageClassName: className }),
    ...(mode !== undefined && { volumeMode: mode }),
    ...(attributesClass !== undefined && { volumeAttributesClassName: attributesClass }),
    ...(source ?? csiSource(sketch.name)),
  };
}

/** The one source that may have every policy and an attributes class. */
function csiSource(volumeHandle: string): PersistentVolumeSource {
  return { csi: { driver: 'disk.example.com', volumeHandle } };
}

async function claimRefOf(cluster: Cluster, sketch: InitialVolume): Promise<PersistentVolume['spec']> {
  const { for: name, uid } = sketch;
  if (name === undefined) return {};
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name };
  if (uid === undefined) return { claimRef };
  if (uid === 'other') return { claimRef: { ...claimRef, uid: 'of-a-claim-that-is-gone' } };
  const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return { claimRef: { ...claimRef, uid: claim.metadata?.uid ?? '' } };
}
