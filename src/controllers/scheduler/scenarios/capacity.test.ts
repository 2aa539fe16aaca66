/** Room that drivers publish, in the decision: CSIStorageCapacity objects, alone and against what pods in flight were promised. */
import { describe, expect, test } from 'vitest';
import { csiDrivers, persistentVolumeClaims } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { namespace, SchedulerWorld } from '../testing/scheduler-world.ts';
import { changeRoom, driverName, placeOf, removeRoom, room, trackedClass } from './testing/furniture.ts';

const tracked = { storageClassName: 'tracked' };
const full = refusal(2);

/** Nobody makes volumes here: what is promised stays promised. */
async function startWorld(): Promise<SchedulerWorld> {
  const world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
  await trackedClass(world);
  return world;
}

function refusal(nodes: number): string {
  return (
    `0/${nodes} nodes are available: ${nodes} node(s) did not have enough free storage. ` +
    `preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`
  );
}

async function ask(world: SchedulerWorld, name: string, ...sizes: readonly string[]): Promise<void> {
  const claims = sizes.map((_, position) => `${name}-${position}`);
  for (const [position, size] of sizes.entries()) await world.claim(claims[position]!, size, tracked);
  await world.pod(name, claims);
  await world.settle();
}

/** The node for which the pod's first volume is being made, or why none is. */
async function chosen(world: SchedulerWorld, name: string, claim = `${name}-0`): Promise<string> {
  const { metadata } = await world.cluster.resource(persistentVolumeClaims).get({ namespace, name: claim });
  return metadata?.annotations?.[annotations.selectedNode] ?? (await placeOf(world, name));
}

describe('what is published decides', () => {
  test('a volume goes where there is room for it', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '4Gi');
    await room(world, 'n2', '5Gi');
    await ask(world, 'web', '5Gi');
    expect(await chosen(world, 'web')).toBe('n2');
  });

  test.each([
    { name: 'nothing is published', publish: async () => {} },
    { name: 'nodes have too little', publish: (world: SchedulerWorld) => room(world, '', '4Gi') },
    {
      name: 'the largest single volume is smaller than the room',
      publish: (world: SchedulerWorld) => room(world, '', '100Gi', { maximumVolumeSize: '4Gi' }),
    },
    {
      name: 'the room is of another class',
      publish: (world: SchedulerWorld) => room(world, '', '100Gi', { storageClassName: 'other' }),
    },
    {
      name: 'the room is somewhere else',
      publish: (world: SchedulerWorld) =>
        room(world, '', '100Gi', { nodeTopology: { matchLabels: { [labels.zone]: 'far' } } }),
    },
  ])('a pod waits where $name', async ({ publish }) => {
    await using world = await startWorld();
    await publish(world);
    await ask(world, 'web', '5Gi');
    expect(await chosen(world, 'web')).toBe(full);
  });

  test('a largest volume that suffices is all that a single claim needs', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '100Gi', { maximumVolumeSize: '5Gi' });
    await ask(world, 'web', '5Gi');
    expect(await chosen(world, 'web')).toBe('n1');
  });

  test('a driver that does not say that it tracks its room is not asked', async () => {
    await using world = await startWorld();
    const patch = { type: 'merge', body: { spec: { storageCapacity: false } } } as const;
    await world.cluster.resource(csiDrivers).patch({ name: driverName }, patch);
    await ask(world, 'web', '5Gi');
    expect(await chosen(world, 'web')).toMatch(/^n[12]$/);
  });

  test('numbers that come, rise, fall and go are followed', async () => {
    await using world = await startWorld();
    await ask(world, 'web', '5Gi');
    await room(world, 'n1', '4Gi');
    await world.settle();
    expect(await chosen(world, 'web')).toBe(full);
    await changeRoom(world, 'n1', { capacity: '5Gi' });
    await world.settle();
    expect(await chosen(world, 'web')).toBe('n1');
    await room(world, 'n2', '5Gi');
    await changeRoom(world, 'n2', { capacity: '4Gi' });
    await ask(world, 'next', '5Gi');
    expect(await chosen(world, 'next')).toBe(full);
    await changeRoom(world, 'n2', { capacity: '50Gi' });
    await removeRoom(world, 'n2');
    await ask(world, 'last', '5Gi');
    expect(await chosen(world, 'last')).toBe(full);
  });
});

describe('all claims of a pod count together', () => {
  test('each fits alone, both together do not: nothing is begun', async () => {
    await using world = await startWorld();
    for (const node of ['n1', 'n2']) await room(world, node, '8Gi');
    await ask(world, 'web', '5Gi', '4Gi');
    expect(await placeOf(world, 'web')).toBe(full);
    expect(await chosen(world, 'web', 'web-0')).toBe(full);
    expect(await chosen(world, 'web', 'web-1')).toBe(full);
    await changeRoom(world, 'n2', { capacity: '9Gi' });
    await world.settle();
    expect(await chosen(world, 'web', 'web-0')).toBe('n2');
    expect(await chosen(world, 'web', 'web-1')).toBe('n2');
  });

  test('two pools of a node share what one could not take', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '5Gi');
    await room(world, 'n1', '4Gi', { metadata: { namespace, name: 'room-n1-b' } });
    await ask(world, 'web', '4Gi', '5Gi');
    expect(await chosen(world, 'web', 'web-0')).toBe('n1');
    const { items } = await world.cluster.resource(persistentVolumeClaims).list();
    expect(items.map(({ metadata }) => metadata?.annotations?.[annotations.pool])).toEqual([
      'default/room-n1-b',
      'default/room-n1',
    ]);
  });
});

describe('what is promised to pods in flight is gone', () => {
  test('a second pod goes elsewhere, a third waits', async () => {
    await using world = await startWorld();
    for (const node of ['n1', 'n2']) await room(world, node, '8Gi');
    for (const name of ['a', 'b', 'c']) await world.claim(`${name}-0`, '5Gi', tracked);
    for (const name of ['a', 'b', 'c']) await world.pod(name, [`${name}-0`]);
    await world.settle();
    const found = await Promise.all(['a', 'b', 'c'].map((name) => chosen(world, name)));
    expect(found.toSorted()).toEqual([full, 'n1', 'n2']);
  });

  test('what the scheduler promised is known after its death, from the claims alone', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '8Gi');
    await ask(world, 'a', '5Gi');
    expect(await chosen(world, 'a')).toBe('n1');
    await world.pause();
    world.resume();
    await world.settle();
    await ask(world, 'b', '5Gi');
    expect(await chosen(world, 'b')).toBe(full);
    await ask(world, 'c', '3Gi');
    expect(await chosen(world, 'c')).toBe('n1');
  });

  test('which of two pools was promised is known after its death, from the name on the claim', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '10Gi');
    await room(world, 'n1', '6Gi', { metadata: { namespace, name: 'room-n1-z' } });
    // Fits both, and takes the one that sorts last; without its name the other one would be charged.
    await world.claim('a-0', '5Gi', tracked);
    await world.pod('a', ['a-0'], { spec: { schedulingGates: [{ name: 'example.com/later' }] } });
    await world.pause();
    const claims = world.cluster.resource(persistentVolumeClaims);
    const marks = { [annotations.selectedNode]: 'n1', [annotations.pool]: 'default/room-n1-z' };
    const patch = { type: 'merge', body: { metadata: { annotations: marks } } } as const;
    await claims.patch({ namespace, name: 'a-0' }, patch);
    world.resume();
    await world.settle();
    await ask(world, 'b', '10Gi');
    expect(await chosen(world, 'b')).toBe('n1');
    await ask(world, 'c', '2Gi');
    expect(await chosen(world, 'c')).toBe(full);
  });

  test('a claim that goes, or whose node is taken back, gives its room to the next', async () => {
    await using world = await startWorld();
    await room(world, 'n1', '8Gi');
    await ask(world, 'a', '5Gi');
    await ask(world, 'b', '5Gi');
    expect(await chosen(world, 'b')).toBe(full);
    await world.deletePod('a');
    await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'a-0' });
    await world.settle(3_000);
    expect(await chosen(world, 'b')).toBe('n1');
  });
});
