/** Decisions by published capacity: CSIStorageCapacity objects, alone and together with what is promised to pods in flight. */
import { describe, expect, test } from 'vitest';
import { csiDrivers, persistentVolumeClaims } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import {
  deleteCapacity,
  driverName,
  patchCapacity,
  placeOf,
  publishCapacity,
  trackedClass,
} from './testing/fixtures.ts';

const tracked = { storageClassName: 'tracked' };
const full = refusal(2);

/** No provisioner runs here, so promises stay. */
async function startFixture(): Promise<SchedulerFixture> {
  const fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
  await trackedClass(fixture);
  return fixture;
}

function refusal(nodes: number): string {
  return (
    `0/${nodes} nodes are available: ${nodes} node(s) did not have enough free storage. ` +
    `preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`
  );
}

async function ask(fixture: SchedulerFixture, name: string, ...sizes: readonly string[]): Promise<void> {
  const claims = sizes.map((_, position) => `${name}-${position}`);
  for (const [position, size] of sizes.entries()) await fixture.claim(claims[position]!, size, tracked);
  await fixture.pod(name, claims);
  await fixture.settle();
}

/** The selected node of the pod's first claim, or why there is none. */
async function chosen(fixture: SchedulerFixture, name: string, claim = `${name}-0`): Promise<string> {
  const { metadata } = await fixture.cluster.resource(persistentVolumeClaims).get({ namespace, name: claim });
  return metadata?.annotations?.[annotations.selectedNode] ?? (await placeOf(fixture, name));
}

describe('published capacity decides', () => {
  test('a volume goes where enough capacity is free', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '4Gi');
    await publishCapacity(fixture, 'n2', '5Gi');
    await ask(fixture, 'web', '5Gi');
    expect(await chosen(fixture, 'web')).toBe('n2');
  });

  test.each([
    { name: 'nothing is published', publish: async () => {} },
    {
      name: 'the nodes have too little',
      publish: (fixture: SchedulerFixture) => publishCapacity(fixture, '', '4Gi'),
    },
    {
      name: 'the largest possible volume is too small',
      publish: (fixture: SchedulerFixture) =>
        publishCapacity(fixture, '', '100Gi', { maximumVolumeSize: '4Gi' }),
    },
    {
      name: 'the capacity is of another class',
      publish: (fixture: SchedulerFixture) =>
        publishCapacity(fixture, '', '100Gi', { storageClassName: 'other' }),
    },
    {
      name: 'the capacity is on other nodes',
      publish: (fixture: SchedulerFixture) =>
        publishCapacity(fixture, '', '100Gi', { nodeTopology: { matchLabels: { [labels.zone]: 'far' } } }),
    },
  ])('a pod waits if $name', async ({ publish }) => {
    await using fixture = await startFixture();
    await publish(fixture);
    await ask(fixture, 'web', '5Gi');
    expect(await chosen(fixture, 'web')).toBe(full);
  });

  test('for a single claim only the largest possible volume counts', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '100Gi', { maximumVolumeSize: '5Gi' });
    await ask(fixture, 'web', '5Gi');
    expect(await chosen(fixture, 'web')).toBe('n1');
  });

  test('capacity is ignored for a driver without storageCapacity', async () => {
    await using fixture = await startFixture();
    const patch = { type: 'merge', body: { spec: { storageCapacity: false } } } as const;
    await fixture.cluster.resource(csiDrivers).patch({ name: driverName }, patch);
    await ask(fixture, 'web', '5Gi');
    expect(await chosen(fixture, 'web')).toMatch(/^n[12]$/);
  });

  test('published capacity that is created, grows, shrinks and is deleted takes effect', async () => {
    await using fixture = await startFixture();
    await ask(fixture, 'web', '5Gi');
    await publishCapacity(fixture, 'n1', '4Gi');
    await fixture.settle();
    expect(await chosen(fixture, 'web')).toBe(full);
    await patchCapacity(fixture, 'n1', { capacity: '5Gi' });
    await fixture.settle();
    expect(await chosen(fixture, 'web')).toBe('n1');
    await publishCapacity(fixture, 'n2', '5Gi');
    await patchCapacity(fixture, 'n2', { capacity: '4Gi' });
    await ask(fixture, 'next', '5Gi');
    expect(await chosen(fixture, 'next')).toBe(full);
    await patchCapacity(fixture, 'n2', { capacity: '50Gi' });
    await deleteCapacity(fixture, 'n2');
    await ask(fixture, 'last', '5Gi');
    expect(await chosen(fixture, 'last')).toBe(full);
  });
});

describe('the claims of a pod are added up', () => {
  test('each fits alone, both together do not: no node is selected', async () => {
    await using fixture = await startFixture();
    for (const node of ['n1', 'n2']) await publishCapacity(fixture, node, '8Gi');
    await ask(fixture, 'web', '5Gi', '4Gi');
    expect(await placeOf(fixture, 'web')).toBe(full);
    expect(await chosen(fixture, 'web', 'web-0')).toBe(full);
    expect(await chosen(fixture, 'web', 'web-1')).toBe(full);
    await patchCapacity(fixture, 'n2', { capacity: '9Gi' });
    await fixture.settle();
    expect(await chosen(fixture, 'web', 'web-0')).toBe('n2');
    expect(await chosen(fixture, 'web', 'web-1')).toBe('n2');
  });

  test('two pools of a node share what does not fit in one', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '5Gi');
    await publishCapacity(fixture, 'n1', '4Gi', { metadata: { namespace, name: 'capacity-n1-b' } });
    await ask(fixture, 'web', '4Gi', '5Gi');
    expect(await chosen(fixture, 'web', 'web-0')).toBe('n1');
    const { items } = await fixture.cluster.resource(persistentVolumeClaims).list();
    expect(items.map(({ metadata }) => metadata?.annotations?.[annotations.pool])).toEqual([
      'default/capacity-n1-b',
      'default/capacity-n1',
    ]);
  });
});

describe('capacity that is promised to pods in flight is not free', () => {
  test('a second pod goes elsewhere, a third waits', async () => {
    await using fixture = await startFixture();
    for (const node of ['n1', 'n2']) await publishCapacity(fixture, node, '8Gi');
    for (const name of ['a', 'b', 'c']) await fixture.claim(`${name}-0`, '5Gi', tracked);
    for (const name of ['a', 'b', 'c']) await fixture.pod(name, [`${name}-0`]);
    await fixture.settle();
    const found = await Promise.all(['a', 'b', 'c'].map((name) => chosen(fixture, name)));
    expect(found.toSorted()).toEqual([full, 'n1', 'n2']);
  });

  test('promises survive a crash of the scheduler, because the claims have them', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '8Gi');
    await ask(fixture, 'a', '5Gi');
    expect(await chosen(fixture, 'a')).toBe('n1');
    await fixture.stopControllers();
    fixture.startControllers();
    await fixture.settle();
    await ask(fixture, 'b', '5Gi');
    expect(await chosen(fixture, 'b')).toBe(full);
    await ask(fixture, 'c', '3Gi');
    expect(await chosen(fixture, 'c')).toBe('n1');
  });

  test('the promised pool survives a crash of the scheduler, because the claim names it', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '10Gi');
    await publishCapacity(fixture, 'n1', '6Gi', { metadata: { namespace, name: 'capacity-n1-z' } });
    // It fits both, and takes the one that sorts last; without its name the other one would be charged.
    await fixture.claim('a-0', '5Gi', tracked);
    await fixture.pod('a', ['a-0'], { spec: { schedulingGates: [{ name: 'example.com/later' }] } });
    await fixture.stopControllers();
    const claims = fixture.cluster.resource(persistentVolumeClaims);
    const marks = { [annotations.selectedNode]: 'n1', [annotations.pool]: 'default/capacity-n1-z' };
    const patch = { type: 'merge', body: { metadata: { annotations: marks } } } as const;
    await claims.patch({ namespace, name: 'a-0' }, patch);
    fixture.startControllers();
    await fixture.settle();
    await ask(fixture, 'b', '10Gi');
    expect(await chosen(fixture, 'b')).toBe('n1');
    await ask(fixture, 'c', '2Gi');
    expect(await chosen(fixture, 'c')).toBe(full);
  });

  test('a claim that is deleted, or whose selected node is cleared, frees its capacity', async () => {
    await using fixture = await startFixture();
    await publishCapacity(fixture, 'n1', '8Gi');
    await ask(fixture, 'a', '5Gi');
    await ask(fixture, 'b', '5Gi');
    expect(await chosen(fixture, 'b')).toBe(full);
    await fixture.deletePod('a');
    await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'a-0' });
    await fixture.settle(3_000);
    expect(await chosen(fixture, 'b')).toBe('n1');
  });
});
