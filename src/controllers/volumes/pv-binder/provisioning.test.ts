import { expect, test } from 'vitest';
import { byName } from '../../../engine/testing/objects.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { persistentVolumeClaims, persistentVolumes, pods, storageClasses } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { TrialCluster } from '../../testing/trial-cluster.ts';
import { createPvBinder, pvBinder } from './pv-binder.ts';
import { linesOf, settled } from './testing/reading.ts';
import { type ClaimSketch, namespace, put, putClaim, putVolume } from './testing/sketches.ts';

/* What happens to claims of classes: hand-over to provisioners, waiting for pods, and classes that come later. */

const provisioners = {
  immediate: { provisioner: 'disk.example.com', volumeBindingMode: 'Immediate' },
  delayed: { provisioner: 'disk.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
  'by-hand': { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'Immediate' },
  migrated: { provisioner: 'kubernetes.io/gce-pd', volumeBindingMode: 'Immediate' },
} as const;

const classes: readonly StorageClass[] = Object.entries(provisioners).map(([name, rest]) => ({
  metadata: { name },
  ...rest,
}));

function handedTo(driver: string): string {
  return (
    `ExternalProvisioning c: Waiting for a volume to be created either by the external provisioner '${driver}' ` +
    'or manually by the system administrator. If volume creation is delayed, please verify that ' +
    'the provisioner is running and correctly registered.'
  );
}

const marked = (driver: string, more: StringMap = {}) => ({
  [annotations.storageProvisioner]: driver,
  [annotations.betaStorageProvisioner]: driver,
  ...more,
});

interface Case {
  readonly name: string;
  readonly claim: Omit<ClaimSketch, 'name'>;
  readonly events: readonly string[];
  readonly marks: StringMap | undefined;
}

const selected = { [annotations.selectedNode]: 'n1' };
const cases: readonly Case[] = [
  {
    name: 'a claim of an immediate class is handed to its provisioner',
    claim: { className: 'immediate' },
    events: [handedTo('disk.example.com')],
    marks: marked('disk.example.com'),
  },
  {
    name: 'a claim of a delayed class waits for a pod',
    claim: { className: 'delayed' },
    events: ['WaitForFirstConsumer c: waiting for first consumer to be created before binding'],
    marks: undefined,
  },
  {
    name: 'a claim of a delayed class is handed over once its node is selected',
    claim: { className: 'delayed', marks: selected },
    events: [handedTo('disk.example.com')],
    marks: marked('disk.example.com', selected),
  },
  {
    name: 'a claim of a class without a provisioner is told so',
    claim: { className: 'by-hand' },
    events: ['ProvisioningFailed c: no volume plugin matched name: kubernetes.io/no-provisioner'],
    marks: undefined,
  },
  {
    name: 'a claim of a class that does not exist is told so',
    claim: { className: 'missing' },
    events: ['ProvisioningFailed c: storageclass.storage.k8s.io "missing" not found'],
    marks: undefined,
  },
  {
    name: 'a claim of a plugin that a CSI driver took over is handed to the driver',
    claim: { className: 'migrated' },
    events: [handedTo('pd.csi.storage.gke.io')],
    marks: marked('pd.csi.storage.gke.io'),
  },
  {
    name: 'a claim that was handed to a plugin earlier says which driver took over',
    claim: { className: 'migrated', marks: { [annotations.storageProvisioner]: 'kubernetes.io/gce-pd' } },
    events: [handedTo('pd.csi.storage.gke.io')],
    marks: marked('pd.csi.storage.gke.io'),
  },
];

test.each(byName(cases))('%s', async (_, { claim, events, marks }) => {
  await using trial = await TrialCluster.start();
  await put(trial.cluster, { classes, claims: [{ name: 'c', ...claim }] });
  trial.run([pvBinder]);
  await trial.settle();
  const { metadata, status } = await trial.cluster
    .resource(persistentVolumeClaims)
    .get({ namespace, name: 'c' });
  expect(status?.phase).toBe('Pending');
  expect(metadata?.annotations).toEqual(marks);
  expect(await trial.told()).toEqual(events);
});

test('a claim that was handed over takes a volume that becomes free', async () => {
  const outcome = await settled({
    classes,
    claims: [{ name: 'c', className: 'immediate' }],
    volumes: [{ name: 'v', className: 'immediate', phase: 'Pending' }],
  });
  expect(outcome.claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a volume that a provisioner makes for a claim is bound to it', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, { classes, claims: [{ name: 'c', className: 'immediate' }] });
  await trial.settle();
  await put(trial.cluster, {
    volumes: [{ name: 'made', className: 'immediate', for: 'c', uid: 'own', phase: 'Pending' }],
  });
  await trial.settle();
  expect(await linesOf(trial.cluster)).toEqual({
    claims: ['c: Bound on made (1Gi), by controller, complete'],
    volumes: ['made: Bound for c'],
  });
});

test('claims of delayed classes are bound at once where volume scheduling is off', async () => {
  const found = {
    classes,
    claims: [{ name: 'c', className: 'delayed' }],
    volumes: [{ name: 'v', className: 'delayed' }],
  };
  const outcome = await settled(found, createPvBinder({ volumeScheduling: false }));
  expect(outcome.claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
  expect((await settled(found)).claims).toEqual(['c: Pending']);
});

const impatient = createPvBinder({ volumeScheduling: false });

test('where volume scheduling is off, a volume is made for a claim of a delayed class before a pod comes', async () => {
  await using trial = await TrialCluster.start(impatient);
  await put(trial.cluster, { classes, claims: [{ name: 'c', className: 'delayed' }] });
  await trial.settle();
  const claim = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(claim.metadata?.annotations).toHaveProperty([annotations.storageProvisioner]);
  expect((await trial.told()).map((line) => line.split(' ')[0])).toEqual(['ExternalProvisioning']);
  await putVolume(trial.cluster, { name: 'v', className: 'delayed', phase: 'Pending' });
  await trial.settle();
  expect((await linesOf(trial.cluster)).claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a delayed claim names the pods that wait to be scheduled', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, { classes, claims: [{ name: 'c', className: 'delayed' }] });
  await trial.settle();
  for (const name of ['b', 'a']) {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }];
    await trial.cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: { containers: [{ name: 'main', image: 'pause' }], volumes },
    });
    await trial.settle();
  }
  expect(await trial.told()).toEqual([
    'WaitForFirstConsumer c: waiting for first consumer to be created before binding',
    'WaitForPodScheduled c: waiting for pod b to be scheduled',
    'WaitForPodScheduled c: waiting for pods a,b to be scheduled',
  ]);
});

// ── The default class, for claims that came before it ──

function defaultClass(name: string, mark: string = annotations.isDefaultClass): StorageClass {
  return { ...classes[0], metadata: { name, annotations: { [mark]: 'true' } }, provisioner: 'p.example.com' };
}

async function classAfter(claim: Omit<ClaimSketch, 'name'>, ...later: readonly StorageClass[]) {
  await using trial = await TrialCluster.start(pvBinder);
  await putClaim(trial.cluster, { name: 'c', ...claim });
  await trial.settle();
  for (const storageClass of later) {
    await trial.settle(2_000);
    await trial.cluster.resource(storageClasses).create(storageClass);
  }
  await trial.settle();
  const { spec } = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  return spec?.storageClassName;
}

test('a claim without a class gets the default class when there is one', async () => {
  expect(await classAfter({})).toBeUndefined();
  expect(await classAfter({}, classes[0]!)).toBeUndefined();
  expect(await classAfter({}, defaultClass('d'))).toBe('d');
  expect(await classAfter({}, defaultClass('d', annotations.betaIsDefaultClass))).toBe('d');
});

test('of several default classes the newest counts, then the first by name', async () => {
  await using trial = await TrialCluster.start();
  await putClaim(trial.cluster, { name: 'c' });
  await trial.cluster.resource(storageClasses).create(defaultClass('old'));
  await trial.settle(2_000);
  for (const name of ['b', 'a']) await trial.cluster.resource(storageClasses).create(defaultClass(name));
  trial.run([pvBinder]);
  await trial.settle();
  const { spec } = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(spec?.storageClassName).toBe('a');
});

test('a claim that has, refused or got its class keeps it', async () => {
  expect(await classAfter({ className: 'gold' }, defaultClass('d'))).toBe('gold');
  expect(await classAfter({ className: '' }, defaultClass('d'))).toBe('');
  const beta = { marks: { [annotations.betaStorageClass]: 'gold' } };
  expect(await classAfter(beta, defaultClass('d'))).toBeUndefined();
  expect(await classAfter({ on: 'v', isComplete: true }, defaultClass('d'))).toBeUndefined();
});

test('a volume without a class has the first chance', async () => {
  await using trial = await TrialCluster.start();
  await put(trial.cluster, { claims: [{ name: 'c' }], volumes: [{ name: 'v' }] });
  await trial.cluster.resource(storageClasses).create(defaultClass('d'));
  trial.run([pvBinder]);
  await trial.settle();
  const { claims } = await linesOf(trial.cluster);
  expect(claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a class that becomes the default one reaches claims without a class', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  await put(trial.cluster, { classes, claims: [{ name: 'c' }] });
  await trial.settle();
  const body = { metadata: { annotations: { [annotations.isDefaultClass]: 'true' } } };
  await trial.cluster.resource(storageClasses).patch({ name: 'immediate' }, { type: 'merge', body });
  await trial.settle();
  const { spec } = await trial.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(spec?.storageClassName).toBe('immediate');
});

test('a volume of a plugin that a CSI driver took over says so, and no longer waits for the plugin', async () => {
  await using trial = await TrialCluster.start(pvBinder);
  const marks = { [annotations.provisionedBy]: 'kubernetes.io/gce-pd' };
  const finalizers = ['kubernetes.io/pv-controller', 'example.com/own'];
  await put(trial.cluster, { volumes: [{ name: 'v', marks, finalizers, policy: 'Delete' }] });
  await trial.settle();
  const { metadata } = await trial.cluster.resource(persistentVolumes).get({ name: 'v' });
  expect(metadata?.annotations).toEqual({ ...marks, [annotations.migratedTo]: 'pd.csi.storage.gke.io' });
  expect(metadata?.finalizers).toEqual(['example.com/own', 'kubernetes.io/pv-protection']);
});
