/** Equal pods share a cached refusal until a change invalidates it; then the next of them gets a new decision. */
import { describe, expect, test } from 'vitest';
import { defaultRules } from '../../../engine/rules/default-rules.ts';
import type { AnyRule } from '../../../engine/rules/framework/rule.ts';
import {
  csiNodes,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { termsOf } from '../../provisioner/testing/objects.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { startWithDriver } from './testing/driver-fixture.ts';
import {
  cpu,
  deleteCapacity,
  driverName,
  numbered,
  onOneNode,
  patchCapacity,
  places,
  publishCapacity,
  schedulingAttempts,
  trackedClass,
  zonalDriver,
} from './testing/fixtures.ts';
import type { FixtureStep } from './testing/wake-table.ts';

const merge = (body: object) => ({ type: 'merge', body }) as const;

interface Case {
  readonly name: string;
  /** Creates objects in addition to the two nodes. */
  readonly seed: FixtureStep;
  readonly className?: string;
  /** How many claims of 5Gi each pod has. */
  readonly claims?: number;
  readonly before: string;
  readonly happens: FixtureStep;
  readonly after: string | RegExp;
}

const noVolume = "node(s) didn't find available persistent volumes to bind";
const noCapacity = 'node(s) did not have enough free storage';

const cases: readonly Case[] = [
  {
    name: 'a PersistentVolume is created',
    seed: async () => {},
    before: `2 ${noVolume}`,
    happens: (w) => w.disk('d', '5Gi', 'n1'),
    after: 'n1',
  },
  {
    name: 'a PersistentVolume grows',
    seed: (w) => w.disk('d', '1Gi', 'n2'),
    before: `2 ${noVolume}`,
    happens: (w) =>
      w.cluster
        .resource(persistentVolumes)
        .patch({ name: 'd' }, merge({ spec: { capacity: { storage: '5Gi' } } })),
    after: 'n2',
  },
  {
    name: 'a PersistentVolume is deleted',
    seed: async (w) => {
      await w.disk('d', '5Gi', 'n1');
    },
    claims: 2,
    before: `2 ${noVolume}`,
    happens: (w) => w.cluster.resource(persistentVolumes).delete({ name: 'd' }),
    after: new RegExp(`2 ${noVolume.replace(/[()]/g, '\\$&')}`),
  },
  {
    name: 'a claim takes the capacity',
    className: 'tracked',
    seed: async (w) => {
      await trackedClass(w);
      await publishCapacity(w, 'n1', '6Gi');
    },
    claims: 2,
    before: `2 ${noCapacity}`,
    happens: async (w) => {
      await w.claim('taker', '6Gi', { storageClassName: 'tracked' });
      const marks = { [annotations.selectedNode]: 'n1' };
      const client = w.cluster.resource(persistentVolumeClaims);
      await client.patch({ namespace, name: 'taker' }, merge({ metadata: { annotations: marks } }));
    },
    after: /of which 6Gi is promised/,
  },
  {
    name: 'a claim that had the capacity is deleted',
    className: 'tracked',
    seed: async (w) => {
      await trackedClass(w);
      await publishCapacity(w, 'n1', '6Gi');
      await w.claim('taker', '6Gi', { storageClassName: 'tracked' });
      const marks = { [annotations.selectedNode]: 'n1' };
      const client = w.cluster.resource(persistentVolumeClaims);
      await client.patch({ namespace, name: 'taker' }, merge({ metadata: { annotations: marks } }));
    },
    before: `2 ${noCapacity}`,
    happens: (w) => w.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'taker' }),
    after: 'n1',
  },
  {
    name: 'the class is deleted',
    seed: async () => {},
    before: `2 ${noVolume}`,
    happens: (w) => w.cluster.resource(storageClasses).delete({ name: 'local' }),
    after: /pod has unbound immediate PersistentVolumeClaims/,
  },
  {
    name: 'the class is re-created with a provisioner',
    seed: async () => {},
    before: `2 ${noVolume}`,
    happens: async (w) => {
      await w.cluster.resource(storageClasses).delete({ name: 'local' });
      await w.storageClass('local', { provisioner: zonalDriver });
    },
    after: /^n\d$/,
  },
  {
    name: 'a node gets a label',
    className: 'zonal',
    seed: (w) => w.storageClass('zonal', { provisioner: zonalDriver, allowedTopologies: termsOf('zone=c') }),
    before: `2 ${noVolume}`,
    happens: (w) =>
      w.cluster
        .resource(nodes)
        .patch({ name: 'n2' }, merge({ metadata: { labels: { [labels.zone]: 'c' } } })),
    after: 'n2',
  },
  {
    name: 'a node is created',
    seed: (w) => w.disk('d', '5Gi', 'n3'),
    before: `0/2 nodes are available: 2 ${noVolume}`,
    happens: (w) => w.node('n3'),
    after: 'n3',
  },
  {
    name: 'a node is deleted',
    seed: async () => {},
    before: `0/2 nodes are available: 2 ${noVolume}`,
    happens: (w) => w.cluster.resource(nodes).delete({ name: 'n2' }),
    after: /^0\/1 nodes are available: 1 /,
  },
  {
    name: 'a CSINode allows more volumes',
    className: 'plain',
    seed: async (w) => {
      await w.storageClass('plain');
      const drivers = [{ name: driverName, nodeID: 'n1', allocatable: { count: 0 } }];
      await w.cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers } });
      const csi = { driver: driverName, volumeHandle: 'd' };
      await w.disk('d', '5Gi', 'n1', { storageClassName: 'plain', csi, local: undefined } as object);
    },
    before: '1 node(s) exceed max volume count',
    happens: (w) => {
      const drivers = [{ name: driverName, nodeID: 'n1', allocatable: { count: 1 } }];
      return w.cluster.resource(csiNodes).patch({ name: 'n1' }, merge({ spec: { drivers } }));
    },
    after: 'n1',
  },
  {
    name: 'a pool is created',
    className: 'tracked',
    seed: (w) => trackedClass(w),
    before: `2 ${noCapacity}`,
    happens: (w) => publishCapacity(w, 'n2', '5Gi'),
    after: 'n2',
  },
  {
    name: 'a pool gets more capacity',
    className: 'tracked',
    seed: async (w) => {
      await trackedClass(w);
      await publishCapacity(w, 'n2', '4Gi');
    },
    before: `2 ${noCapacity}`,
    happens: (w) => patchCapacity(w, 'n2', { capacity: '5Gi' }),
    after: 'n2',
  },
  {
    name: 'a pool gets less capacity',
    className: 'tracked',
    seed: async (w) => {
      await trackedClass(w);
      await publishCapacity(w, '', '4Gi');
    },
    before: 'needs 5Gi, has 4Gi',
    happens: (w) => patchCapacity(w, '', { capacity: '3Gi' }),
    after: /needs 5Gi, has 3Gi/,
  },
  {
    name: 'a pool is deleted',
    className: 'tracked',
    seed: async (w) => {
      await trackedClass(w);
      await publishCapacity(w, '', '4Gi');
    },
    before: 'needs 5Gi, has 4Gi',
    happens: (w) => deleteCapacity(w, ''),
    after: /^(?!.*has 4Gi)0\/2 nodes are available/,
  },
];

/** The pod's node, or its selected node if the volume is not provisioned yet. */
async function answerTo(fixture: SchedulerFixture, name: string): Promise<string> {
  const client = fixture.cluster.resource(persistentVolumeClaims);
  const { metadata } = await client.get({ namespace, name: `${name}-0` });
  return metadata?.annotations?.[annotations.selectedNode] ?? (await fixture.place(name));
}

describe('the next of equal pods gets a new decision when', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const { seed, className = 'local', claims = 1, before, happens, after } = one;
    await using fixture = await SchedulerFixture.start({
      nodes: [],
      otherControllers: ['pv-binder', 'provisioner', 'protection'],
    });
    await fixture.node('n1', { labels: { [labels.zone]: 'a' } });
    await fixture.node('n2', { labels: { [labels.zone]: 'b' } });
    await seed(fixture);
    const ask = async (name: string) => {
      const names = numbered(`${name}-`, claims);
      for (const claim of names) await fixture.claim(claim, '5Gi', { storageClassName: className });
      await fixture.pod(name, names);
      await fixture.settle();
    };
    await ask('first');
    await ask('second');
    expect(await fixture.place('first')).toContain(before);
    expect(await fixture.place('second')).toContain(before);
    // They would be woken too, and take the new capacity.
    for (const name of ['first', 'second']) await fixture.deletePod(name);
    await happens(fixture);
    await ask('third');
    const found = await answerTo(fixture, 'third');
    if (typeof after === 'string') expect(found).toBe(after);
    else expect(found).toMatch(after);
  });
});

describe('planning again', () => {
  /** Counts the plans. */
  function countedRules() {
    const counted = { plans: 0 };
    const [first, ...others] = defaultRules as readonly [AnyRule, ...AnyRule[]];
    const prepare: AnyRule['prepare'] = (cycle) => {
      counted.plans += 1;
      return first.prepare(cycle);
    };
    return { counted, rules: [{ ...first, prepare }, ...others] };
  }

  test('a hundred equal pods that do not fit cost as much as one', async () => {
    const { counted, rules } = countedRules();
    await using fixture = await SchedulerFixture.start({
      nodes: ['n1'],
      otherControllers: [],
      scheduler: { rules },
    });
    await fixture.pod('large', [], { spec: cpu('6') });
    await fixture.settle();
    counted.plans = 0;
    const many = numbered('p', 100);
    for (const name of many) await fixture.pod(name, [], { spec: cpu('4') });
    await fixture.settle();
    expect(new Set(await places(fixture, many)).size).toBe(1);
    expect(counted.plans).toBeLessThan(10);
    await fixture.cluster.resource(pods).delete({ namespace, name: 'large' }, { gracePeriodSeconds: 0 });
    await fixture.settle();
    expect((await places(fixture, many)).filter((place) => place === 'n1')).toHaveLength(2);
  });

  test('a pod with other requirements gets its own decision', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1'], otherControllers: [] });
    await fixture.pod('large', [], { spec: cpu('6') });
    await fixture.settle();
    await fixture.pod('first', [], { spec: cpu('4') });
    await fixture.pod('smaller', [], { spec: cpu('2') });
    await fixture.pod('elsewhere', [], { spec: { ...cpu('4'), nodeSelector: { a: 'b' } } });
    await fixture.settle();
    expect(await fixture.place('first')).toContain('1 Insufficient cpu');
    expect(await fixture.place('smaller')).toBe('n1');
    expect(await fixture.place('elsewhere')).toContain("1 node(s) didn't match Pod's node affinity/selector");
  });

  test('a pod with a reservation that is not bound yet counts for the next of equal pods', async () => {
    const { fixture } = await startWithDriver({ nodes: { n1: '10Gi', n2: '10Gi' }, createMs: 5_000 });
    await using _ = fixture;
    await fixture.pod('alone', [], { spec: onOneNode });
    await fixture.settle();
    expect(await fixture.place('alone')).toContain("2 node(s) didn't match pod affinity rules");
    await fixture.claim('data', '5Gi', { storageClassName: 'tracked' });
    const metadata = { namespace, name: 'friend', labels: { app: 'web' } };
    await fixture.pod('friend', ['data'], { metadata });
    await fixture.settle(1_000);
    expect(await fixture.place('friend')).toBe('pending');
    await fixture.pod('beside', [], { spec: onOneNode });
    await fixture.settle();
    expect(await fixture.place('beside')).toMatch(/^n\d$/);
    await fixture.settle(10_000);
    expect(new Set(await places(fixture, ['alone', 'friend', 'beside'])).size).toBe(1);
  });

  test('a reservation invalidates earlier refusals', async () => {
    const quiet = { nodes: ['n1'], beside: [] };
    await using fixture = await SchedulerFixture.start(quiet);
    await fixture.stopControllers();
    // All exist when the scheduler starts, and are taken by name: one is refused, its friend is placed, and one equals the first.
    const metadata = { namespace, name: 'b', labels: { app: 'web' } };
    await fixture.pod('a', [], { spec: onOneNode });
    await fixture.pod('b', [], { metadata });
    await fixture.pod('c', [], { spec: onOneNode });
    fixture.startControllers(quiet);
    await fixture.settle();
    expect(await places(fixture, ['a', 'b', 'c'])).toEqual(['n1', 'n1', 'n1']);
    expect(schedulingAttempts(fixture, 'unschedulable')).toBe(1);
  });
});
