import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import { csiNodes, persistentVolumes, pods } from '../kube/resources.ts';
import { driver, ExtenderFixture, namespace } from './testing/extender-fixture.ts';

describe('filter', () => {
  test('returns the nodes with enough free capacity, and reports how much capacity the others are missing', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '2Gi');
    const answer = await fixture.filter(await fixture.pod('p', '3Gi'), ['n1', 'n2']);
    expect(answer).toEqual({
      Nodes: null,
      NodeNames: ['n1'],
      FailedNodes: {},
      FailedAndUnresolvableNodes: {
        n2: 'node(s) did not have enough free storage (no pool that this node can reach has enough free capacity for the volume; claim default/p-0, pool default/pool-n2: its maximum volume size is smaller than the request (needs 3Gi, has 2Gi))',
      },
      Error: '',
    });
  });

  test('adds up the claims of a pod: two that each fit alone may not fit together', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const { NodeNames, FailedAndUnresolvableNodes } = await fixture.filter(
      await fixture.pod('p', '6Gi', '6Gi'),
      ['n1'],
    );
    expect(NodeNames).toEqual([]);
    expect(FailedAndUnresolvableNodes.n1).toMatch(
      /^node\(s\) did not have enough free storage \(each volume fits a pool of this node, but not all of them at the same time; claim default\/p-\d, pool default\/pool-n1: /,
    );
  });

  test('answers whole nodes with whole nodes, whatever the capitalization', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '2Gi');
    const items = ['n1', 'n2'].map((name) => ({ metadata: { name, labels: { its: 'own' } } }));
    const pod = await fixture.pod('p', '3Gi');
    for (const args of [
      { Pod: pod, Nodes: { items }, NodeNames: null },
      { pod, nodes: { items } },
    ]) {
      const { status, body } = await fixture.post('/filter', args);
      expect(status).toBe(200);
      expect(body).toMatchObject({ NodeNames: null, Nodes: { items: [items[0]] } });
    }
  });

  test('whole nodes come back with exact 64-bit integers', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const pod = await fixture.pod('p', '5Gi');
    const node = '{"metadata":{"name":"n1"},"status":{"images":[{"sizeBytes":9007199254740993}]}}';
    const { text } = await fixture.send(
      '/filter',
      `{"Pod":${JSON.stringify(pod)},"Nodes":{"items":[${node}]}}`,
    );
    expect(text).toContain(`"Nodes":{"items":[${node}]}`);
  });

  test('a node that is not in the cache is refused for now; the others get an answer', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const answer = await fixture.filter(await fixture.pod('p', '3Gi'), ['n1', 'ghost']);
    expect(answer.NodeNames).toEqual(['n1']);
    expect(answer.FailedNodes).toEqual({ ghost: 'node(s) were not known to the extender yet' });
  });

  test('a problem of the pod itself is reported for every node', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'absent' } }];
    const pod: Pod = { metadata: { namespace, name: 'p', uid: 'u' }, spec: { volumes } };
    const { FailedAndUnresolvableNodes } = await fixture.filter(pod, ['n1']);
    expect(FailedAndUnresolvableNodes).toEqual({ n1: 'persistentvolumeclaim "absent" not found' });
  });

  test('without the gate VolumeScheduling an unbound claim is refused on every node', async () => {
    await using fixture = await ExtenderFixture.start({ volumeScheduling: false });
    await fixture.node('n1', '10Gi');
    const { NodeNames, FailedAndUnresolvableNodes } = await fixture.filter(await fixture.pod('p', '3Gi'), [
      'n1',
    ]);
    expect(NodeNames).toEqual([]);
    expect(FailedAndUnresolvableNodes.n1).toContain('unbound immediate PersistentVolumeClaims');
  });

  test('of many nodes only a few have a message of their own', async () => {
    await using fixture = await ExtenderFixture.start();
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    for (const name of names) await fixture.node(name, '1Gi');
    const { FailedAndUnresolvableNodes } = await fixture.filter(await fixture.pod('p', '3Gi'), names);
    expect(Object.keys(FailedAndUnresolvableNodes)).toEqual(names);
    expect(new Set(Object.values(FailedAndUnresolvableNodes)).size).toBe(9);
  });
});

describe('capacity that kube-scheduler is about to use', () => {
  test('is not offered to the next pods', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const passed: boolean[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const { NodeNames } = await fixture.filter(await fixture.pod(name, '3Gi'), ['n1']);
      passed.push(NodeNames?.length === 1);
    }
    expect(passed).toEqual([true, true, true, false, false]);
  });

  test('is not held for a pod that is not in the cluster', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '4Gi');
    const pod = await fixture.pod('p', '3Gi');
    const invented = { ...pod, metadata: { ...pod.metadata, name: 'invented', uid: 'invented' } };
    const changedUid = { ...pod, metadata: { ...pod.metadata, uid: 'another' } };
    for (const args of [invented, changedUid]) {
      expect((await fixture.filter(args, ['n1'])).NodeNames).toEqual(['n1']);
      await fixture.post('/prioritize', { Pod: args, NodeNames: ['n1'] });
    }
    expect((await fixture.filter(pod, ['n1'])).NodeNames).toEqual(['n1']);
    expect((await fixture.filter(await fixture.pod('q', '3Gi'), ['n1'])).NodeNames).toEqual([]);
  });

  test('stays available to the pod itself when kube-scheduler asks again', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '4Gi');
    const pod = await fixture.pod('p', '3Gi');
    for (let time = 0; time < 3; time += 1)
      expect((await fixture.filter(pod, ['n1'])).NodeNames).toEqual(['n1']);
    const { body } = await fixture.post('/prioritize', { Pod: pod, NodeNames: ['n1'] });
    expect(body).toEqual([{ Host: 'n1', Score: 1 }]);
  });

  test('is held on every node that the pod may go to, until a node is selected', async () => {
    await using fixture = await ExtenderFixture.start();
    for (const name of ['n1', 'n2']) await fixture.node(name, '4Gi');
    const nodeNames = ['n1', 'n2'];
    expect((await fixture.filter(await fixture.pod('p', '3Gi'), nodeNames)).NodeNames).toEqual(nodeNames);
    const next = await fixture.pod('q', '3Gi');
    // The request waits until the cluster shows where the first pod goes.
    const [answer] = await Promise.all([fixture.filter(next, nodeNames), fixture.select('p-0', 'n1')]);
    expect(answer.NodeNames).toEqual(['n2']);
  });

  test('is charged once to a pool that many nodes share', async () => {
    await using fixture = await ExtenderFixture.start();
    for (const name of ['n1', 'n2']) await fixture.node(name);
    await fixture.pool('shared', '10Gi', {});
    const nodeNames = ['n1', 'n2'];
    for (const name of ['p', 'q', 'r'])
      expect((await fixture.filter(await fixture.pod(name, '3Gi'), nodeNames)).NodeNames).toEqual(nodeNames);
    expect((await fixture.filter(await fixture.pod('s', '3Gi'), nodeNames)).NodeNames).toEqual([]);
  });

  test('is released when the pod is deleted, or kube-scheduler refuses it', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '4Gi');
    const client = fixture.cluster.resource(pods);
    await fixture.filter(await fixture.pod('p', '3Gi'), ['n1']);
    const next = await fixture.pod('q', '3Gi');
    expect((await fixture.filter(next, ['n1'])).NodeNames).toEqual([]);
    await client.delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await fixture.observed(() => fixture.binding.index.pods.stored('default/p') === undefined);
    expect((await fixture.filter(next, ['n1'])).NodeNames).toEqual(['n1']);

    const last = await fixture.pod('r', '3Gi');
    expect((await fixture.filter(last, ['n1'])).NodeNames).toEqual([]);
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no' };
    const patch = { type: 'merge', body: { status: { conditions: [condition] } } } as const;
    await client.patch({ namespace, name: 'q' }, patch, { subresource: 'status' });
    expect((await fixture.filter(last, ['n1'])).NodeNames).toEqual(['n1']);
  });

  test('is released after the hold time', async () => {
    await using fixture = await ExtenderFixture.start({ holdMs: 0 });
    await fixture.node('n1', '4Gi');
    for (const name of ['p', 'q', 'r'])
      expect((await fixture.filter(await fixture.pod(name, '3Gi'), ['n1'])).NodeNames).toEqual(['n1']);
  });
});

test('prioritize returns integer scores from 0 to 10; more free capacity is better', async () => {
  await using fixture = await ExtenderFixture.start();
  await fixture.node('n1', '4Gi');
  await fixture.node('n2', '100Gi');
  await fixture.node('n3', '1Gi');
  const pod = await fixture.pod('p', '3Gi');
  const { body } = await fixture.post('/prioritize', { Pod: pod, NodeNames: ['n1', 'n2', 'n3'] });
  expect(body).toEqual([
    { Host: 'n1', Score: 1 },
    { Host: 'n2', Score: 5 },
    { Host: 'n3', Score: 0 },
  ]);
});

test('preempt returns the nodes where the volumes fit without the victims', async () => {
  await using fixture = await ExtenderFixture.start();
  const { cluster } = fixture;
  for (const name of ['n1', 'n2']) {
    await fixture.node(name, '10Gi');
    await cluster.resource(csiNodes).create({
      metadata: { name },
      spec: { drivers: [{ name: driver, nodeID: name, allocatable: { count: name === 'n1' ? 1 : 0 } }] },
    });
  }
  const victim = await attachedPod(fixture, 'victim', 'n1');
  const pod = await fixture.pod('p', '3Gi');
  expect((await fixture.filter(pod, ['n1', 'n2'])).FailedNodes).toMatchObject({
    n1: expect.stringContaining('node(s) exceed max volume count'),
  });
  const uid = victim.metadata?.uid ?? '';
  const expected = { NodeNameToMetaVictims: { n1: { Pods: [{ UID: uid }], NumPDBViolations: 2 } } };
  for (const victims of [
    { NodeNameToMetaVictims: victimsOn({ Pods: [{ UID: uid }], NumPDBViolations: 2 }) },
    { NodeNameToVictims: victimsOn({ Pods: [victim], NumPDBViolations: 2 }) },
  ]) {
    const { body } = await fixture.post('/preempt', { Pod: pod, ...victims });
    expect(body).toEqual(expected);
  }
});

function victimsOn(onFirst: object) {
  return { n1: onFirst, n2: { Pods: [], NumPDBViolations: 0 } };
}

/** A pod that runs on the node with a volume of the driver. */
async function attachedPod(fixture: ExtenderFixture, name: string, nodeName: string): Promise<Pod> {
  const { cluster } = fixture;
  const pod = await fixture.pod(name, '1Gi');
  await fixture.select(`${name}-0`, nodeName);
  await cluster.resource(persistentVolumes).create({
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      claimRef: { namespace, name: `${name}-0` },
      csi: { driver, volumeHandle: name },
    },
  });
  await fixture.observed(() => fixture.binding.index.claims.get(`${namespace}/${name}-0`)?.isBound === true);
  const bound = { namespace, name, uid: pod.metadata?.uid ?? '', node: nodeName };
  const { body } = await fixture.post('/bind', bindingArgs(bound));
  expect(body).toEqual({ Error: '' });
  await fixture.observed(
    () => fixture.binding.index.pods.stored(`${namespace}/${name}`)?.nodeName === nodeName,
  );
  return pod;
}

interface BindingTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

function bindingArgs(to: BindingTarget) {
  return { PodName: to.name, PodNamespace: to.namespace, PodUID: to.uid, Node: to.node };
}

describe('bind', () => {
  test('binds the pod once, however often it is requested', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '10Gi');
    const { metadata } = await fixture.pod('p');
    const args = bindingArgs({ namespace, name: 'p', uid: metadata?.uid ?? '', node: 'n1' });
    const answers = await Promise.all([1, 2, 3].map(() => fixture.post('/bind', args)));
    expect(answers.map(({ body }) => body)).toEqual([{ Error: '' }, { Error: '' }, { Error: '' }]);
    await fixture.observed(() => fixture.binding.index.pods.stored('default/p')?.nodeName === 'n1');
    expect((await fixture.post('/bind', args)).body).toEqual({ Error: '' });
    expect((await fixture.post('/bind', { ...args, Node: 'n2' })).body).toEqual({
      Error: 'pod default/p is already assigned to node "n1"',
    });
  });

  test('reports what prevents the binding, with status 200', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '2Gi');
    const { metadata } = await fixture.pod('p', '3Gi');
    const uid = metadata?.uid ?? '';
    const { status, body } = await fixture.post(
      '/bind',
      bindingArgs({ namespace, name: 'p', uid, node: 'n1' }),
    );
    expect([status, body]).toEqual([200, { Error: 'node(s) did not have enough free storage' }]);
    const other = bindingArgs({ namespace, name: 'p', uid: 'another', node: 'n1' });
    expect((await fixture.post('/bind', other)).body).toEqual({
      Error: 'pod default/p with uid another was deleted, or is not in the cache yet',
    });
  });

  test('with unbound claims selects the node and waits for the volumes first', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const { metadata } = await fixture.pod('p', '3Gi');
    const args = bindingArgs({ namespace, name: 'p', uid: metadata?.uid ?? '', node: 'n1' });
    const answer = fixture.post('/bind', args);
    await fixture.observed(() => fixture.binding.index.claims.get('default/p-0')?.selectedNode === 'n1');
    expect(fixture.binding.index.pods.stored('default/p')?.nodeName).toBe('');
    await fixture.cluster.resource(persistentVolumes).create({
      metadata: { name: 'made' },
      spec: {
        capacity: { storage: '3Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        claimRef: { namespace, name: 'p-0' },
        csi: { driver, volumeHandle: 'made' },
      },
    });
    expect((await answer).body).toEqual({ Error: '' });
    await fixture.observed(() => fixture.binding.index.pods.stored('default/p')?.nodeName === 'n1');
  });
});
