/** The design proposal's list of unit tests, at the height of the scheduler. */
import { describe, expect, test } from 'vitest';
import { persistentVolumes } from '../../../kube/resources.ts';
import { namespace, SchedulerWorld } from '../testing/scheduler-world.ts';
import { zonalDriver } from './testing/furniture.ts';

const onlyOn = (node: string) => ({ nodeSelector: { 'kubernetes.io/hostname': node } });
const nowhere = /node\(s\) didn't find available persistent volumes to bind/;

async function bound(world: SchedulerWorld): Promise<readonly string[]> {
  return (await world.lines()).filter((line) => line.startsWith('claim '));
}

describe('which volumes', () => {
  test.each(['n1', 'n2'])('all claims find a volume on %s, each the one that wastes least', async (node) => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
    const other = node === 'n1' ? 'n2' : 'n1';
    await world.disk('elsewhere', '3Gi', other);
    for (const size of [3, 5, 8, 20]) await world.disk(`d${size}`, `${size}Gi`, node);
    await world.claim('large', '6Gi');
    await world.claim('middle', '4Gi');
    await world.claim('small', '1Gi');
    await world.pod('web', ['small', 'large', 'middle']);
    await world.settle();
    expect(await bound(world)).toEqual(['claim large has d8', 'claim middle has d5', 'claim small has d3']);
    expect(await world.place('web')).toBe(node);
  });

  test('two of three claims have a match: none is bound', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
    for (const node of ['n1', 'n2'])
      for (const disk of ['a', 'b']) await world.disk(`${disk}-${node}`, '5Gi', node);
    for (const name of ['x', 'y', 'z']) await world.claim(name, '5Gi');
    await world.pod('web', ['x', 'y', 'z']);
    await world.settle();
    expect(await world.place('web')).toMatch(nowhere);
    expect(await bound(world)).toEqual(['claim x has nothing', 'claim y has nothing', 'claim z has nothing']);
  });

  test('volumes that are reserved for others are not taken', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1'] });
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'theirs' };
    await world.disk('reserved', '5Gi', 'n1', { claimRef });
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    expect(await world.place('web')).toMatch(nowhere);
    await world.cluster
      .resource(persistentVolumes)
      .patch({ name: 'reserved' }, { type: 'merge', body: { spec: { claimRef: null } } });
    await world.settle();
    expect(await bound(world)).toEqual(['claim data has reserved']);
  });

  test('a volume that is reserved for the claim by hand is the one that it gets', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
    await world.disk('tight', '5Gi', 'n1');
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'data' };
    await world.disk('wide', '50Gi', 'n2', { claimRef });
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    expect(await world.place('web')).toBe('n2');
    expect(await bound(world)).toEqual(['claim data has wide']);
  });
});

describe('which node', () => {
  test('volumes change the order of nodes: the tightest fit wins', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2', 'n3'] });
    await world.disk('wide', '100Gi', 'n1');
    await world.disk('tight', '6Gi', 'n2');
    await world.disk('middle', '20Gi', 'n3');
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    expect(await world.place('web')).toBe('n2');
  });

  test('equal volumes leave the order of nodes to others: here, to the load', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2', 'n3'] });
    for (const node of ['n1', 'n2', 'n3']) await world.disk(`disk-${node}`, '10Gi', node);
    const containers = [
      { name: 'main', image: 'pause', resources: { requests: { cpu: '4', memory: '16Gi' } } },
    ];
    for (const node of ['n1', 'n3'])
      await world.pod(`busy-${node}`, [], { spec: { nodeName: node, containers } });
    await world.claim('data', '5Gi');
    await world.pod('web', ['data']);
    await world.settle();
    expect(await world.place('web')).toBe('n2');
  });

  test('a volume that is there comes before one that would have to be made', async () => {
    await using world = await SchedulerWorld.start({ nodes: [] });
    for (const name of ['n1', 'n2', 'n3'])
      await world.node(name, { labels: { 'topology.kubernetes.io/zone': name } });
    await world.storageClass('zonal', { provisioner: zonalDriver });
    await world.disk('there', '6Gi', 'n3', { storageClassName: 'zonal' });
    await world.claim('data', '5Gi', { storageClassName: 'zonal' });
    await world.pod('web', ['data']);
    await world.settle();
    expect(await bound(world)).toEqual(['claim data has there']);
  });

  test('other rules forbid the better volume', async () => {
    await using world = await SchedulerWorld.start({ nodes: ['n1', 'n2'] });
    await world.disk('tight', '5Gi', 'n1');
    await world.disk('wide', '50Gi', 'n2');
    await world.claim('data', '5Gi');
    await world.pod('web', ['data'], { spec: onlyOn('n2') });
    await world.settle();
    expect(await bound(world)).toEqual(['claim data has wide']);
  });
});
