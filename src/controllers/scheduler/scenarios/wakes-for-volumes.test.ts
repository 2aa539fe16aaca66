/** Which changes make the scheduler try a pod again that was refused because of its volumes, and which do not. */
import { describe } from 'vitest';
import {
  csiDrivers,
  csiNodes,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '../../../kube/resources.ts';
import { labels, noProvisioner } from '../../../kube/well-known.ts';
import { termsOf } from '../../provisioner/testing/objects.ts';
import { namespace, type SchedulerFixture } from '../testing/scheduler-fixture.ts';
import {
  deleteCapacity,
  driverName,
  patchCapacity,
  publishCapacity,
  trackedClass,
  zonalDriver,
} from './testing/fixtures.ts';
import { expectWakes } from './testing/wake-table.ts';

const merge = (body: object) => ({ type: 'merge', body }) as const;

async function patchVolume(fixture: SchedulerFixture, name: string, body: object): Promise<void> {
  await fixture.cluster.resource(persistentVolumes).patch({ name }, merge(body));
}

async function patchClaim(fixture: SchedulerFixture, name: string, body: object): Promise<void> {
  await fixture.cluster.resource(persistentVolumeClaims).patch({ namespace, name }, merge(body));
}

async function labelNode(fixture: SchedulerFixture, key: string, value: string): Promise<void> {
  await fixture.cluster
    .resource(nodes)
    .patch({ name: 'n1' }, merge({ metadata: { labels: { [key]: value } } }));
}

async function beat(fixture: SchedulerFixture): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2025-01-01T00:10:00Z' }] as const;
  const options = { subresource: 'status' };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, merge({ status: { conditions } }), options);
}

describe('a pod that finds no volume', () => {
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'other' };
  expectWakes({
    refused: "1 node(s) didn't find available persistent volumes to bind",
    seed: async (fixture) => {
      await fixture.storageClass('other');
      await fixture.disk('small', '1Gi', 'n1');
      await fixture.disk('reserved', '9Gi', 'n1', { claimRef });
      await fixture.claim('data', '5Gi');
      await fixture.claim('theirs', '5Gi', { storageClassName: 'other' });
      await fixture.pod('web', ['data']);
    },
    rows: [
      { name: 'a volume that fits', step: (w) => w.disk('new', '5Gi', 'n1'), wakes: 'placed' },
      { name: 'a volume on another node', step: (w) => w.disk('new', '5Gi', 'n9'), wakes: true },
      {
        name: 'a volume of another class',
        step: (w) => w.disk('new', '5Gi', 'n1', { storageClassName: 'other' }),
        wakes: false,
      },
      { name: 'a volume that is too small', step: (w) => w.disk('new', '4Gi', 'n1'), wakes: false },
      {
        name: 'a volume that is reserved for another claim',
        step: (w) => w.disk('new', '5Gi', 'n1', { claimRef }),
        wakes: false,
      },
      {
        name: 'a volume that grows',
        step: (w) => patchVolume(w, 'small', { spec: { capacity: { storage: '5Gi' } } }),
        wakes: 'placed',
      },
      {
        name: 'a volume that is no longer reserved',
        step: (w) => patchVolume(w, 'reserved', { spec: { claimRef: null } }),
        wakes: 'placed',
      },
      {
        name: 'a label on a volume that does not fit',
        step: (w) => patchVolume(w, 'small', { metadata: { labels: { a: 'b' } } }),
        wakes: false,
      },
      { name: 'another claim', step: (w) => w.claim('unrelated', '1Gi'), wakes: false },
      {
        name: 'an annotation on another claim',
        step: (w) => patchClaim(w, 'theirs', { metadata: { annotations: { a: 'b' } } }),
        wakes: false,
      },
      {
        name: 'its own claim, bound by an administrator',
        step: (w) => patchClaim(w, 'data', { spec: { volumeName: 'reserved' } }),
        wakes: true,
      },
      { name: 'a node', step: (w) => w.node('n2'), wakes: true },
      { name: 'a label on a node', step: (w) => labelNode(w, labels.zone, 'a'), wakes: true },
      { name: 'the heartbeat of a node', step: beat, wakes: false },
      {
        name: 'a class that is not its own',
        step: (w) => w.storageClass('third', { provisioner: zonalDriver }),
        wakes: false,
      },
      {
        name: 'its class, re-created with a provisioner',
        step: async (w) => {
          await labelNode(w, labels.zone, 'a');
          await w.settle();
          await w.cluster.resource(storageClasses).delete({ name: 'local' });
          await w.storageClass('local', { provisioner: zonalDriver });
        },
        wakes: 'placed',
      },
      {
        name: 'a pod on another node that changes its status',
        step: (w) => w.pod('other', [], { spec: { schedulerName: 'another', nodeName: 'n1' } }),
        wakes: false,
      },
    ],
  });
});

describe('a pod whose claim does not exist', () => {
  expectWakes({
    refused: 'persistentvolumeclaim "data" not found',
    seed: async (fixture) => {
      await fixture.disk('d1', '5Gi', 'n1');
      await fixture.pod('web', ['data']);
    },
    rows: [
      { name: 'its claim', step: (w) => w.claim('data', '5Gi'), wakes: 'placed' },
      { name: 'another claim', step: (w) => w.claim('other', '5Gi'), wakes: false },
      { name: 'a volume', step: (w) => w.disk('d2', '5Gi', 'n1'), wakes: false },
    ],
  });
});

describe('a pod whose claim is bound immediately', () => {
  expectWakes({
    refused: 'pod has unbound immediate PersistentVolumeClaims',
    seed: async (fixture) => {
      await fixture.storageClass('now', { volumeBindingMode: 'Immediate', provisioner: noProvisioner });
      await fixture.claim('data', '5Gi', { storageClassName: 'now' });
      await fixture.pod('web', ['data']);
    },
    rows: [
      {
        name: 'a volume that the PV controller binds to its claim',
        step: (w) => w.disk('d1', '5Gi', 'n1', { storageClassName: 'now' }),
        wakes: 'placed',
      },
      { name: 'a volume of another class', step: (w) => w.disk('d1', '5Gi', 'n1'), wakes: false },
    ],
  });
});

describe('a pod whose class does not exist', () => {
  expectWakes({
    refused: 'pod has unbound immediate PersistentVolumeClaims',
    seed: async (fixture) => {
      await labelNode(fixture, labels.zone, 'a');
      await fixture.claim('data', '5Gi', { storageClassName: 'late' });
      await fixture.pod('web', ['data']);
    },
    rows: [
      {
        name: 'its class, with delayed binding',
        step: (w) => w.storageClass('late', { provisioner: zonalDriver }),
        wakes: 'placed',
      },
      {
        name: 'another class',
        step: (w) => w.storageClass('later', { provisioner: zonalDriver }),
        wakes: false,
      },
    ],
  });
});

describe('a pod whose class allows other topologies', () => {
  expectWakes({
    refused: "1 node(s) didn't find available persistent volumes to bind",
    seed: async (fixture) => {
      await labelNode(fixture, labels.zone, 'a');
      const allowedTopologies = termsOf('zone=b');
      await fixture.storageClass('zonal', { provisioner: zonalDriver, allowedTopologies });
      await fixture.claim('data', '5Gi', { storageClassName: 'zonal' });
      await fixture.pod('web', ['data']);
    },
    rows: [
      { name: 'a label that is allowed', step: (w) => labelNode(w, labels.zone, 'b'), wakes: 'placed' },
      {
        name: 'a node that is allowed',
        step: (w) => w.node('n2', { labels: { [labels.zone]: 'b' } }),
        wakes: 'placed',
      },
      {
        name: 'its class, re-created for this topology',
        step: async (w) => {
          await w.cluster.resource(storageClasses).delete({ name: 'zonal' });
          await w.storageClass('zonal', { provisioner: zonalDriver, allowedTopologies: termsOf('zone=a') });
        },
        wakes: 'placed',
      },
    ],
  });
});

describe('a pod without free capacity in a pool', () => {
  expectWakes({
    refused: '1 node(s) did not have enough free storage',
    seed: async (fixture) => {
      await trackedClass(fixture);
      await publishCapacity(fixture, 'n1', '4Gi', { maximumVolumeSize: '3Gi' });
      await fixture.claim('data', '5Gi', { storageClassName: 'tracked' });
      await fixture.pod('web', ['data']);
    },
    rows: [
      { name: 'another pool', step: (w) => publishCapacity(w, 'n2', '9Gi'), wakes: true },
      {
        name: 'a pool of another class',
        step: (w) => publishCapacity(w, 'n2', '9Gi', { storageClassName: 'other' }),
        wakes: false,
      },
      {
        name: 'more capacity',
        step: (w) => patchCapacity(w, 'n1', { capacity: '9Gi', maximumVolumeSize: '9Gi' }),
        wakes: true,
      },
      {
        name: 'larger volumes',
        step: (w) => patchCapacity(w, 'n1', { maximumVolumeSize: '6Gi' }),
        wakes: true,
      },
      {
        name: 'larger volumes, but smaller than the claim',
        step: (w) => patchCapacity(w, 'n1', { maximumVolumeSize: '4Gi' }),
        wakes: false,
      },
      { name: 'less capacity', step: (w) => patchCapacity(w, 'n1', { capacity: '3Gi' }), wakes: false },
      {
        name: 'smaller volumes',
        step: (w) => patchCapacity(w, 'n1', { maximumVolumeSize: '1Gi' }),
        wakes: false,
      },
      { name: 'a pool that is deleted', step: (w) => deleteCapacity(w, 'n1'), wakes: false },
      {
        name: 'a driver that no longer publishes its capacity',
        step: (w) =>
          w.cluster
            .resource(csiDrivers)
            .patch({ name: driverName }, merge({ spec: { storageCapacity: false } })),
        wakes: true,
      },
      {
        name: 'another driver',
        step: (w) =>
          w.cluster.resource(csiDrivers).create({ metadata: { name: 'other.example.com' }, spec: {} }),
        wakes: false,
      },
      {
        name: 'an existing volume',
        step: (w) => w.disk('d', '5Gi', 'n1', { storageClassName: 'tracked' }),
        wakes: 'placed',
      },
    ],
  });
});

describe('a pod on a node that attaches no more volumes', () => {
  const limit = (count: number) => ({
    spec: { drivers: [{ name: driverName, nodeID: 'n1', allocatable: { count } }] },
  });
  const volume = (handle: string) => ({
    storageClassName: 'plain',
    local: undefined,
    csi: { driver: driverName, volumeHandle: handle },
  });
  expectWakes({
    refused: '1 node(s) exceed max volume count',
    options: { otherControllers: ['pv-binder', 'node-agent'] },
    seed: async (fixture) => {
      await fixture.storageClass('plain');
      await fixture.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, ...limit(1) });
      for (const name of ['v1', 'v2']) await fixture.disk(name, '5Gi', 'n1', volume(name) as object);
      for (const name of ['first', 'data']) await fixture.claim(name, '5Gi', { storageClassName: 'plain' });
      await fixture.pod('idle');
      await fixture.pod('first', ['first']);
      await fixture.settle(2_000);
      await fixture.pod('web', ['data']);
    },
    rows: [
      {
        name: 'a higher limit',
        step: (w) => w.cluster.resource(csiNodes).patch({ name: 'n1' }, merge(limit(2))),
        wakes: 'placed',
      },
      {
        name: 'a lower limit',
        step: (w) => w.cluster.resource(csiNodes).patch({ name: 'n1' }, merge(limit(0))),
        wakes: false,
      },
      {
        name: 'deleting the other pod with such a volume',
        step: async (w) => {
          await w.deletePod('first');
          await w.settle(5_000);
        },
        wakes: 'placed',
      },
      {
        name: 'deleting a pod without volumes',
        step: async (w) => {
          await w.deletePod('idle');
          await w.settle(5_000);
        },
        wakes: false,
      },
      // A claim may name it, and then it costs no second slot.
      { name: 'any volume', step: (w) => w.disk('d', '1Gi', 'n1'), wakes: true },
    ],
  });
});
