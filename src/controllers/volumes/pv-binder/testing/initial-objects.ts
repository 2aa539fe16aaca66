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

/** A volume in its initial state. Without `for` it has no claimRef; `uid` selects whether the claimRef has the claim's uid, another, or none. */
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
  readonly extraAnnotations?: StringMap;
  readonly finalizers?: readonly string[];
  readonly source?: PersistentVolumeSource;
}

/** A claim in its initial state. */
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
  readonly extraAnnotations?: StringMap;
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

export async function createClaim(cluster: Cluster, initial: InitialClaim): Promise<void> {
  const client = cluster.resource(persistentVolumeClaims);
  const { name, phase } = initial;
  await client.create({
    metadata: { namespace, name, ...claimAnnotations(initial) },
    spec: claimSpec(initial),
  });
  if (phase === undefined) return;
  const body = { status: { phase } };
  await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

function claimAnnotations({
  byController,
  isComplete,
  extraAnnotations,
}: InitialClaim): PersistentVolumeClaim['metadata'] {
  return {
    annotations: {
      ...(byController && { [annotations.boundByController]: markerValue }),
      ...(isComplete && { [annotations.bindCompleted]: markerValue }),
      ...extraAnnotations,
    },
  };
}

function claimSpec(initial: InitialClaim): NonNullable<PersistentVolumeClaim['spec']> {
  const { size = '1Gi', on, className, selector, mode, accessModes, attributesClass } = initial;
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

export async function createVolume(cluster: Cluster, initial: InitialVolume): Promise<void> {
  const client = cluster.resource(persistentVolumes);
  const { name, labels, byController, extraAnnotations, finalizers, phase = 'Available' } = initial;
  const mark = { ...(byController && { [annotations.boundByController]: markerValue }), ...extraAnnotations };
  await client.create({
    metadata: { name, annotations: mark, ...(labels && { labels }), ...(finalizers && { finalizers }) },
    spec: { ...volumeSpec(initial), ...(await claimRefOf(cluster, initial)) },
  });
  await client.patch({ name }, { type: 'merge', body: { status: { phase } } }, { subresource: 'status' });
}

function volumeSpec(initial: InitialVolume): NonNullable<PersistentVolume['spec']> {
  const { size = '1Gi', className, mode, accessModes, attributesClass, policy, source } = initial;
  return {
    capacity: { storage: size },
    accessModes: accessModes ?? ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: policy ?? 'Retain',
    ...(className !== undefined && { storageClassName: className }),
    ...(mode !== undefined && { volumeMode: mode }),
    ...(attributesClass !== undefined && { volumeAttributesClassName: attributesClass }),
    ...(source ?? csiSource(initial.name)),
  };
}

/** The only source that allows every policy and a VolumeAttributesClass. */
function csiSource(volumeHandle: string): PersistentVolumeSource {
  return { csi: { driver: 'disk.example.com', volumeHandle } };
}

async function claimRefOf(cluster: Cluster, initial: InitialVolume): Promise<PersistentVolume['spec']> {
  const { for: name, uid } = initial;
  if (name === undefined) return {};
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name };
  if (uid === undefined) return { claimRef };
  if (uid === 'other') return { claimRef: { ...claimRef, uid: 'of-a-claim-that-is-gone' } };
  const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name });
  return { claimRef: { ...claimRef, uid: claim.metadata?.uid ?? '' } };
}
