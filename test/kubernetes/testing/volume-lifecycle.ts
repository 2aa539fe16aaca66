import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/kube/api/core.ts';
import type { ObjectMeta } from '../../../src/kube/api/meta.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../../src/kube/resources.ts';
import { untilSteady } from './steady.ts';

type VolumeSpec = NonNullable<PersistentVolume['spec']>;
type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;

/** Creates volumes and claims that match in many different ways. The PV controller then binds them. */
export async function runVolumeBindings(cluster: Cluster, namespace: string): Promise<void> {
  await makeClasses(cluster);
  await makeVolumes(cluster, namespace);
  // The PV controller binds only volumes that are Available: a claim that is created earlier would get another volume.
  await untilSteady(
    () => phasesOf(cluster, namespace),
    (phases) => phases.every((phase) => phase === 'Available'),
  );
  const claims: Readonly<Record<string, ClaimSpec>> = {
    smallest: { storageClassName: 'sizes' },
    larger: { storageClassName: 'sizes', resources: { requests: { storage: '3Gi' } } },
    'too-large': { storageClassName: 'sizes', resources: { requests: { storage: '1Ti' } } },
    labelled: { storageClassName: 'labels', selector: { matchLabels: { media: 'ssd' } } },
    unmatched: { storageClassName: 'labels', selector: { matchLabels: { media: 'tape' } } },
    promised: { storageClassName: 'promises' },
    chooser: { storageClassName: 'choices', volumeName: 'chosen' },
    'small-chooser': { storageClassName: 'choices', volumeName: 'too-small' },
    dreamer: { storageClassName: 'choices', volumeName: 'no-such-volume' },
    waiting: { storageClassName: 'waits' },
    external: { storageClassName: 'external' },
    unprovisioned: { storageClassName: 'unprovisioned' },
    classless: { storageClassName: '' },
    raw: { storageClassName: 'modes', volumeMode: 'Block' },
    filed: { storageClassName: 'modes', volumeMode: 'Filesystem' },
    many: { storageClassName: 'access', accessModes: ['ReadWriteMany'] },
    lost: { storageClassName: 'losses' },
    released: { storageClassName: 'releases' },
    undeletable: { storageClassName: 'deletes' },
  };
  for (const [name, spec] of Object.entries(claims)) await makeClaim(cluster, { namespace, name }, spec);
}

/** Deletes claims and volumes after they were bound. */
export async function runVolumeDeletions(cluster: Cluster, namespace: string): Promise<void> {
  const claims = cluster.resource(persistentVolumeClaims);
  await claims.delete({ namespace, name: 'released' });
  await claims.delete({ namespace, name: 'undeletable' });
  const volumes = cluster.resource(persistentVolumes);
  await volumes.delete({ name: 'losing' });
  await volumes.patch({ name: 'losing' }, { type: 'merge', body: { metadata: { finalizers: null } } });
}

async function makeClasses(cluster: Cluster): Promise<void> {
  const client = cluster.resource(storageClasses);
  const none = 'kubernetes.io/no-provisioner';
  await client.create({
    metadata: { name: 'waits' },
    provisioner: none,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await client.create({ metadata: { name: 'external' }, provisioner: 'example.com/disk' });
  await client.create({ metadata: { name: 'unprovisioned' }, provisioner: none });
}

async function makeVolumes(cluster: Cluster, namespace: string): Promise<void> {
  const volume = async (name: string, spec: VolumeSpec, labels = {}) => {
    const common = {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      nfs: { server: 'nfs', path: '/a' },
    } as const;
    await cluster
      .resource(persistentVolumes)
      .create({ metadata: { name, labels: { scene: namespace, ...labels } }, spec: { ...common, ...spec } });
  };
  await volume('size-1', { storageClassName: 'sizes' });
  await volume('size-5', { storageClassName: 'sizes', capacity: { storage: '5Gi' } });
  await volume('size-9', { storageClassName: 'sizes', capacity: { storage: '9Gi' } });
  await volume('disk', { storageClassName: 'labels' }, { media: 'hdd' });
  await volume('flash', { storageClassName: 'labels' }, { media: 'ssd' });
  await volume('tempting', { storageClassName: 'promises' });
  await volume('reserved', {
    storageClassName: 'promises',
    capacity: { storage: '7Gi' },
    claimRef: { namespace, name: 'promised' },
  });
  await volume('chosen', { storageClassName: 'choices', capacity: { storage: '7Gi' } });
  await volume('too-small', { storageClassName: 'choices', capacity: { storage: '1Mi' } });
  await volume('block', { storageClassName: 'modes', volumeMode: 'Block' });
  await volume('once', { storageClassName: 'access' });
  await volume('shared', { storageClassName: 'access', accessModes: ['ReadWriteOnce', 'ReadWriteMany'] });
  await volume('losing', { storageClassName: 'losses' });
  await volume('kept', { storageClassName: 'releases', persistentVolumeReclaimPolicy: 'Retain' });
  await volume('unwanted', { storageClassName: 'deletes', persistentVolumeReclaimPolicy: 'Delete' });
  await volume('free', { storageClassName: '' });
}

async function makeClaim(cluster: Cluster, metadata: ObjectMeta, spec: ClaimSpec): Promise<void> {
  const common = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
  await cluster.resource(persistentVolumeClaims).create({ metadata, spec: { ...common, ...spec } });
}

/** The phases of the volumes of a scenario. */
async function phasesOf(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const { items } = await cluster.resource(persistentVolumes).list({ labelSelector: `scene=${namespace}` });
  return items.map(({ status }) => status?.phase ?? '-');
}

/** The state of each volume and claim, one line each. */
export async function volumeStates(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const volumes = await cluster.resource(persistentVolumes).list();
  const claims = await cluster.resource(persistentVolumeClaims).list({ namespace });
  const keysOf = (annotations = {}) => Object.keys(annotations).sort().join();
  return [
    ...volumes.items.map(({ metadata, spec, status }) => {
      const owner = `${spec?.claimRef?.name ?? '-'}${spec?.claimRef?.uid === undefined ? '' : ' (by uid)'}`;
      return `volume ${metadata?.name}: ${status?.phase} ${status?.message ?? ''} of ${owner} [${keysOf(metadata?.annotations)}]`;
    }),
    ...claims.items.map(({ metadata, spec, status }) => {
      const has = `${spec?.volumeName ?? '-'} ${status?.capacity?.storage ?? '-'} ${status?.accessModes?.join() ?? '-'}`;
      return `claim ${metadata?.name}: ${status?.phase} ${spec?.storageClassName} ${has} [${keysOf(metadata?.annotations)}]`;
    }),
  ].sort();
}

const boundClaims = [
  'smallest',
  'larger',
  'labelled',
  'promised',
  'chooser',
  'classless',
  'raw',
  'many',
  'lost',
  'released',
  'undeletable',
];

/** Every cluster binds these claims; until then its controller may not have begun. */
export function areBindingsOver(states: readonly string[]): boolean {
  return boundClaims.every((name) => states.some((line) => line.startsWith(`claim ${name}: Bound `)));
}

export function areReleasesOver(states: readonly string[]): boolean {
  const ends = ['claim lost: Lost ', 'volume kept: Released ', 'volume unwanted: Failed '];
  return ends.every((end) => states.some((line) => line.startsWith(end)));
}
