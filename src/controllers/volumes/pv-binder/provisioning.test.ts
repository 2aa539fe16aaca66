import { expect, test } from 'vitest';
import { byName } from '../../../engine/testing/objects.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { persistentVolumeClaims, persistentVolumes, pods, storageClasses } from '../../../kube/resources.ts';
import { annotations } from '../../../kube/well-known.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { pvBinderController } from './pv-binder.ts';
import { claimAndVolumeLines, runBinder } from './testing/binder-outcome.ts';
import {
  createClaim,
  createObjects,
  createVolume,
  type InitialClaim,
  namespace,
} from './testing/initial-objects.ts';

/* Claims of classes: hand-over to provisioners, waiting for pods, and classes that are created later. */

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
  readonly claim: Omit<InitialClaim, 'name'>;
  readonly events: readonly string[];
  readonly extraAnnotations: StringMap | undefined;
}

const selected = { [annotations.selectedNode]: 'n1' };
const cases: readonly Case[] = [
  {
    name: 'a claim of an immediate class is handed to its provisioner',
    claim: { className: 'immediate' },
    events: [handedTo('disk.example.com')],
    extraAnnotations: marked('disk.example.com'),
  },
  {
    name: 'a claim of a delayed class waits for a pod',
    claim: { className: 'delayed' },
    events: ['WaitForFirstConsumer c: waiting for first consumer to be created before binding'],
    extraAnnotations: undefined,
  },
  {
    name: 'a claim of a delayed class is handed over once its node is selected',
    claim: { className: 'delayed', extraAnnotations: selected },
    events: [handedTo('disk.example.com')],
    extraAnnotations: marked('disk.example.com', selected),
  },
  {
    name: 'a claim of a class without a provisioner gets an Event',
    claim: { className: 'by-hand' },
    events: ['ProvisioningFailed c: no volume plugin matched name: kubernetes.io/no-provisioner'],
    extraAnnotations: undefined,
  },
  {
    name: 'a claim of a class that does not exist gets an Event',
    claim: { className: 'missing' },
    events: ['ProvisioningFailed c: storageclass.storage.k8s.io "missing" not found'],
    extraAnnotations: undefined,
  },
  {
    name: 'a claim of a migrated plugin is handed to the CSI driver',
    claim: { className: 'migrated' },
    events: [handedTo('pd.csi.storage.gke.io')],
    extraAnnotations: marked('pd.csi.storage.gke.io'),
  },
  {
    name: 'a claim that was handed to a plugin earlier names the driver that took over',
    claim: {
      className: 'migrated',
      extraAnnotations: { [annotations.storageProvisioner]: 'kubernetes.io/gce-pd' },
    },
    events: [handedTo('pd.csi.storage.gke.io')],
    extraAnnotations: marked('pd.csi.storage.gke.io'),
  },
];

test.each(byName(cases))('%s', async (_, { claim, events, extraAnnotations }) => {
  await using fixture = await VirtualTimeCluster.start();
  await createObjects(fixture.cluster, { classes, claims: [{ name: 'c', ...claim }] });
  fixture.run([pvBinderController()]);
  await fixture.settle();
  const { metadata, status } = await fixture.cluster
    .resource(persistentVolumeClaims)
    .get({ namespace, name: 'c' });
  expect(status?.phase).toBe('Pending');
  expect(metadata?.annotations).toEqual(extraAnnotations);
  expect(await fixture.eventLines()).toEqual(events);
});

test('a claim that was handed over takes a volume that becomes free', async () => {
  const outcome = await runBinder({
    classes,
    claims: [{ name: 'c', className: 'immediate' }],
    volumes: [{ name: 'v', className: 'immediate', phase: 'Pending' }],
  });
  expect(outcome.claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a volume that a provisioner creates for a claim is bound to it', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, { classes, claims: [{ name: 'c', className: 'immediate' }] });
  await fixture.settle();
  await createObjects(fixture.cluster, {
    volumes: [{ name: 'made', className: 'immediate', for: 'c', uid: 'own', phase: 'Pending' }],
  });
  await fixture.settle();
  expect(await claimAndVolumeLines(fixture.cluster)).toEqual({
    claims: ['c: Bound on made (1Gi), by controller, complete'],
    volumes: ['made: Bound for c'],
  });
});

test('claims of delayed classes are bound at once if volume scheduling is off', async () => {
  const found = {
    classes,
    claims: [{ name: 'c', className: 'delayed' }],
    volumes: [{ name: 'v', className: 'delayed' }],
  };
  const outcome = await runBinder(found, pvBinderController({ volumeScheduling: false }));
  expect(outcome.claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
  expect((await runBinder(found)).claims).toEqual(['c: Pending']);
});

const impatient = pvBinderController({ volumeScheduling: false });

test('if volume scheduling is off, a volume is provisioned for a claim of a delayed class without a pod', async () => {
  await using fixture = await VirtualTimeCluster.start(impatient);
  await createObjects(fixture.cluster, { classes, claims: [{ name: 'c', className: 'delayed' }] });
  await fixture.settle();
  const claim = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(claim.metadata?.annotations).toHaveProperty([annotations.storageProvisioner]);
  expect((await fixture.eventLines()).map((line) => line.split(' ')[0])).toEqual(['ExternalProvisioning']);
  await createVolume(fixture.cluster, { name: 'v', className: 'delayed', phase: 'Pending' });
  await fixture.settle();
  expect((await claimAndVolumeLines(fixture.cluster)).claims).toEqual([
    'c: Bound on v (1Gi), by controller, complete',
  ]);
});

test('a delayed claim names the pods that wait to be scheduled', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, { classes, claims: [{ name: 'c', className: 'delayed' }] });
  await fixture.settle();
  for (const name of ['b', 'a']) {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }];
    await fixture.cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: { containers: [{ name: 'main', image: 'pause' }], volumes },
    });
    await fixture.settle();
  }
  expect(await fixture.eventLines()).toEqual([
    'WaitForFirstConsumer c: waiting for first consumer to be created before binding',
    'WaitForPodScheduled c: waiting for pod b to be scheduled',
    'WaitForPodScheduled c: waiting for pods a,b to be scheduled',
  ]);
});

// ── The default class, for claims that were created before it ──

function defaultClass(name: string, mark: string = annotations.isDefaultClass): StorageClass {
  return { ...classes[0], metadata: { name, annotations: { [mark]: 'true' } }, provisioner: 'p.example.com' };
}

async function classAfter(claim: Omit<InitialClaim, 'name'>, ...later: readonly StorageClass[]) {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createClaim(fixture.cluster, { name: 'c', ...claim });
  await fixture.settle();
  for (const storageClass of later) {
    await fixture.settle(2_000);
    await fixture.cluster.resource(storageClasses).create(storageClass);
  }
  await fixture.settle();
  const { spec } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  return spec?.storageClassName;
}

test('a claim without a class gets the default class when there is one', async () => {
  expect(await classAfter({})).toBeUndefined();
  expect(await classAfter({}, classes[0]!)).toBeUndefined();
  expect(await classAfter({}, defaultClass('d'))).toBe('d');
  expect(await classAfter({}, defaultClass('d', annotations.betaIsDefaultClass))).toBe('d');
});

test('of several default classes the newest counts, then the first by name', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await createClaim(fixture.cluster, { name: 'c' });
  await fixture.cluster.resource(storageClasses).create(defaultClass('old'));
  await fixture.settle(2_000);
  for (const name of ['b', 'a']) await fixture.cluster.resource(storageClasses).create(defaultClass(name));
  fixture.run([pvBinderController()]);
  await fixture.settle();
  const { spec } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(spec?.storageClassName).toBe('a');
});

test('a claim that has, refused or got its class keeps it', async () => {
  expect(await classAfter({ className: 'gold' }, defaultClass('d'))).toBe('gold');
  expect(await classAfter({ className: '' }, defaultClass('d'))).toBe('');
  const beta = { extraAnnotations: { [annotations.betaStorageClass]: 'gold' } };
  expect(await classAfter(beta, defaultClass('d'))).toBeUndefined();
  expect(await classAfter({ on: 'v', isComplete: true }, defaultClass('d'))).toBeUndefined();
});

test('volumes without a class are tried first', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await createObjects(fixture.cluster, { claims: [{ name: 'c' }], volumes: [{ name: 'v' }] });
  await fixture.cluster.resource(storageClasses).create(defaultClass('d'));
  fixture.run([pvBinderController()]);
  await fixture.settle();
  const { claims } = await claimAndVolumeLines(fixture.cluster);
  expect(claims).toEqual(['c: Bound on v (1Gi), by controller, complete']);
});

test('a new default class is applied to claims without a class', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  await createObjects(fixture.cluster, { classes, claims: [{ name: 'c' }] });
  await fixture.settle();
  const body = { metadata: { annotations: { [annotations.isDefaultClass]: 'true' } } };
  await fixture.cluster.resource(storageClasses).patch({ name: 'immediate' }, { type: 'merge', body });
  await fixture.settle();
  const { spec } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: 'c' });
  expect(spec?.storageClassName).toBe('immediate');
});

test('a volume of a migrated plugin names its driver, and no longer has the finalizer of the plugin', async () => {
  await using fixture = await VirtualTimeCluster.start(pvBinderController());
  const extraAnnotations = { [annotations.provisionedBy]: 'kubernetes.io/gce-pd' };
  const finalizers = ['kubernetes.io/pv-controller', 'example.com/own'];
  await createObjects(fixture.cluster, {
    volumes: [{ name: 'v', extraAnnotations, finalizers, policy: 'Delete' }],
  });
  await fixture.settle();
  const { metadata } = await fixture.cluster.resource(persistentVolumes).get({ name: 'v' });
  expect(metadata?.annotations).toEqual({
    ...extraAnnotations,
    [annotations.migratedTo]: 'pd.csi.storage.gke.io',
  });
  expect(metadata?.finalizers).toEqual(['example.com/own', 'kubernetes.io/pv-protection']);
});
