/** The list of unit tests in the design proposal, run on the whole scheduler. */
import { describe, expect, test } from 'vitest';
import { persistentVolumes } from '../../../kube/resources.ts';
import { namespace, SchedulerFixture } from '../testing/scheduler-fixture.ts';
import { zonalDriver } from './testing/fixtures.ts';

const onlyOn = (node: string) => ({ nodeSelector: { 'kubernetes.io/hostname': node } });
const nowhere = /node\(s\) didn't find available persistent volumes to bind/;

async function bound(fixture: SchedulerFixture): Promise<readonly string[]> {
  return (await fixture.summary()).filter((line) => line.startsWith('claim '));
}

describe('which volumes', () => {
  test.each(['n1', 'n2'])('all claims find a volume on %s, each the one that wastes least', async (node) => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
    const other = node === 'n1' ? 'n2' : 'n1';
    await fixture.disk('elsewhere', '3Gi', other);
    for (const size of [3, 5, 8, 20]) await fixture.disk(`d${size}`, `${size}Gi`, node);
    await fixture.claim('large', '6Gi');
    await fixture.claim('middle', '4Gi');
    await fixture.claim('small', '1Gi');
    await fixture.pod('web', ['small', 'large', 'middle']);
    await fixture.settle();
    expect(await bound(fixture)).toEqual(['claim large has d8', 'claim middle has d5', 'claim small has d3']);
    expect(await fixture.place('web')).toBe(node);
  });

  test('two of three claims have a match: none is bound', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
    for (const node of ['n1', 'n2'])
      for (const disk of ['a', 'b']) await fixture.disk(`${disk}-${node}`, '5Gi', node);
    for (const name of ['x', 'y', 'z']) await fixture.claim(name, '5Gi');
    await fixture.pod('web', ['x', 'y', 'z']);
    await fixture.settle();
    expect(await fixture.place('web')).toMatch(nowhere);
    expect(await bound(fixture)).toEqual([
      'claim x has nothing',
      'claim y has nothing',
      'claim z has nothing',
    ]);
  });

  test('volumes that are reserved for other claims are not taken', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1'] });
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'theirs' };
    await fixture.disk('reserved', '5Gi', 'n1', { claimRef });
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await fixture.place('web')).toMatch(nowhere);
    await fixture.cluster
      .resource(persistentVolumes)
      .patch({ name: 'reserved' }, { type: 'merge', body: { spec: { claimRef: null } } });
    await fixture.settle();
    expect(await bound(fixture)).toEqual(['claim data has reserved']);
  });

  test('a claim gets the volume that an administrator has reserved for it', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
    await fixture.disk('tight', '5Gi', 'n1');
    const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'data' };
    await fixture.disk('wide', '50Gi', 'n2', { claimRef });
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n2');
    expect(await bound(fixture)).toEqual(['claim data has wide']);
  });
});

describe('which node', () => {
  test('volumes change the order of nodes: the tightest fit wins', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2', 'n3'] });
    await fixture.disk('wide', '100Gi', 'n1');
    await fixture.disk('tight', '6Gi', 'n2');
    await fixture.disk('middle', '20Gi', 'n3');
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n2');
  });

  test('if the volumes are equal, other rules order the nodes: here the load', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2', 'n3'] });
    for (const node of ['n1', 'n2', 'n3']) await fixture.disk(`disk-${node}`, '10Gi', node);
    const containers = [
      { name: 'main', image: 'pause', resources: { requests: { cpu: '4', memory: '16Gi' } } },
    ];
    for (const node of ['n1', 'n3'])
      await fixture.pod(`busy-${node}`, [], { spec: { nodeName: node, containers } });
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await fixture.place('web')).toBe('n2');
  });

  test('an existing volume is preferred to a new one', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: [] });
    for (const name of ['n1', 'n2', 'n3'])
      await fixture.node(name, { labels: { 'topology.kubernetes.io/zone': name } });
    await fixture.storageClass('zonal', { provisioner: zonalDriver });
    await fixture.disk('there', '6Gi', 'n3', { storageClassName: 'zonal' });
    await fixture.claim('data', '5Gi', { storageClassName: 'zonal' });
    await fixture.pod('web', ['data']);
    await fixture.settle();
    expect(await bound(fixture)).toEqual(['claim data has there']);
  });

  test('other rules may exclude the better volume', async () => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'] });
    await fixture.disk('tight', '5Gi', 'n1');
    await fixture.disk('wide', '50Gi', 'n2');
    await fixture.claim('data', '5Gi');
    await fixture.pod('web', ['data'], { spec: onlyOn('n2') });
    await fixture.settle();
    expect(await bound(fixture)).toEqual(['claim data has wide']);
  });
});
