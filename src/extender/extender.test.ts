import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import { csiNodes, persistentVolumes, pods } from '../kube/resources.ts';
import { driver, ExtenderFixture, namespace } from './testing/extender-fixture.ts';

describe('filter', () => {
  test('passes the nodes that have room, and says of the others what they lack', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '2Gi');
    const answer = await fixture.filter(await fixture.pod('p', '3Gi'), ['n1', 'n2']);
    expect(answer).toEqual({
      Nodes: null,
      NodeNames: ['n1'],
      FailedNodes: {},
      FailedAndUnresolvableNodes: {
        n2: 'node(s) did not have enough free storage (no pool that this node reaches has room for the volume; claim default/p-0, pool default/pool-n2: it makes no single volume that large (needs 3Gi, has 2Gi))',
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
      /^node\(s\) did not have enough free storage \(each volume would fit a pool of this node, but not all of them at once; claim default\/p-\d, pool default\/pool-n1: /,
    );
  });

  test('whole nodes in, whole nodes out, whatever the spelling', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '2Gi');
    const items = ['n1', 'n2'].map((name) => ({ metadata: { name, labels: { its: 'own' } } }));
    const pod = await fixture.pod('p', '3Gi');
    for (const args of [
      { Pod: pod, Nodes: { items }, NodeNames: null },
      { pod, nodes: { items } },
    ]) {
      const { status, body } = await fixture.ask('/filter', args);
      expect(status).toBe(200);
      expect(body).toMatchObject({ NodeNames: null, Nodes: { items: [items[0]] } });
    }
  });

  test('a node that nobody has heard of is refused for now, the others are answered', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const answer = await fixture.filter(await fixture.pod('p', '3Gi'), ['n1', 'ghost']);
    expect(answer.NodeNames).toEqual(['n1']);
    expect(answer.FailedNodes).toEqual({ ghost: 'node(s) were not known to the extender yet' });
  });

  test('what is wrong with the pod itself is said of every node', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'absent' } }];
    const pod: Pod = { metadata: { namespace, name: 'p', uid: 'u' }, spec: { volumes } };
    const { FailedAndUnresolvableNodes } = await fixture.filter(pod, ['n1']);
    expect(FailedAndUnresolvableNodes).toEqual({ n1: 'persistentvolumeclaim "absent" not found' });
  });

  test('among many nodes few have a text of their own', async () => {
    await using fixture = await ExtenderFixture.start();
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    for (const name of names) await fixture.node(name, '1Gi');
    const { FailedAndUnresolvableNodes } = await fixture.filter(await fixture.pod('p', '3Gi'), names);
    expect(Object.keys(FailedAndUnresolvableNodes)).toEqual(names);
    expect(new Set(Object.values(FailedAndUnresolvableNodes)).size).toBe(9);
  });
});

describe('room that kube-scheduler is about to use', () => {
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

  test('is not in the way of the pod itself when it is asked about again', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '4Gi');
    const pod = await fixture.pod('p', '3Gi');
    for (let time = 0; time < 3; time += 1)
      expect((await fixture.filter(pod, ['n1'])).NodeNames).toEqual(['n1']);
    const { body } = await fixture.ask('/prioritize', { Pod: pod, NodeNames: ['n1'] });
    expect(body).toEqual([{ Host: 'n1', Score: 1 }]);
  });

  test('is kept on every node that the pod may go to, until a node is selected', async () => {
    await using fixture = await ExtenderFixture.start();
    for (const name of ['n1', 'n2']) await fixture.node(name, '4Gi');
    const nodeNames = ['n1', 'n2'];
    expect((await fixture.filter(await fixture.pod('p', '3Gi'), nodeNames)).NodeNames).toEqual(nodeNames);
    const next = await fixture.pod('q', '3Gi');
    // It waits while nobody knows where the first goes, and is answered as soon as that shows.
    const [answer] = await Promise.all([fixture.filter(next, nodeNames), fixture.select('p-0', 'n1')]);
    expect(answer.NodeNames).toEqual(['n2']);
  });

  test('is one room for a pool that many nodes reach', async () => {
    await using fixture = await ExtenderFixture.start();
    for (const name of ['n1', 'n2']) await fixture.node(name);
    await fixture.pool('shared', '10Gi', {});
    const nodeNames = ['n1', 'n2'];
    for (const name of ['p', 'q', 'r'])
      expect((await fixture.filter(await fixture.pod(name, '3Gi'), nodeNames)).NodeNames).toEqual(nodeNames);
    expect((await fixture.filter(await fixture.pod('s', '3Gi'), nodeNames)).NodeNames).toEqual([]);
  });

  test('comes back when the pod is deleted, or has been refused after all', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '4Gi');
    const client = fixture.fixture.cluster.resource(pods);
    await fixture.filter(await fixture.pod('p', '3Gi'), ['n1']);
    const next = await fixture.pod('q', '3Gi');
    expect((await fixture.filter(next, ['n1'])).NodeNames).toEqual([]);
    await client.delete({ namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await fixture.known(() => fixture.binding.index.pods.stored('default/p') === undefined);
    expect((await fixture.filter(next, ['n1'])).NodeNames).toEqual(['n1']);

    const last = await fixture.pod('r', '3Gi');
    expect((await fixture.filter(last, ['n1'])).NodeNames).toEqual([]);
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no' };
    const patch = { type: 'merge', body: { status: { conditions: [condition] } } } as const;
    await client.patch({ namespace, name: 'q' }, patch, { subresource: 'status' });
    expect((await fixture.filter(last, ['n1'])).NodeNames).toEqual(['n1']);
  });

  test('comes back after a time in which nothing was heard', async () => {
    await using fixture = await ExtenderFixture.start({ holdMs: 0 });
    await fixture.node('n1', '4Gi');
    for (const name of ['p', 'q', 'r'])
      expect((await fixture.filter(await fixture.pod(name, '3Gi'), ['n1'])).NodeNames).toEqual(['n1']);
  });
});

test('prioritize ranks from 0 to 10 in whole numbers; what has more left is better', async () => {
  await using fixture = await ExtenderFixture.start();
  await fixture.node('n1', '4Gi');
  await fixture.node('n2', '100Gi');
  await fixture.node('n3', '1Gi');
  const pod = await fixture.pod('p', '3Gi');
  const { body } = await fixture.ask('/prioritize', { Pod: pod, NodeNames: ['n1', 'n2', 'n3'] });
  expect(body).toEqual([
    { Host: 'n1', Score: 1 },
    { Host: 'n2', Score: 5 },
    { Host: 'n3', Score: 0 },
  ]);
});

test('preempt keeps the nodes where leaving pods make place for the volumes', async () => {
  await using fixture = await ExtenderFixture.start();
  const { cluster } = fixture.fixture;
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
    const { body } = await fixture.ask('/preempt', { Pod: pod, ...victims });
    expect(body).toEqual(expected);
  }
});

function victimsOn(onFirst: object) {
  return { n1: onFirst, n2: { Pods: [], NumPDBViolations: 0 } };
}

/** A pod that runs on the node with a volume of the driver. */
async function attachedPod(fixture: ExtenderFixture, name: string, nodeName: string): Promise<Pod> {
  const { cluster } = fixture.fixture;
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
  await fixture.known(() => fixture.binding.index.claims.get(`${namespace}/${name}-0`)?.isBound === true);
  const bound = { namespace, name, uid: pod.metadata?.uid ?? '', node: nodeName };
  const { body } = await fixture.ask('/bind', bindingArgs(bound));
  expect(body).toEqual({ Error: '' });
  await fixture.known(() => fixture.binding.index.pods.stored(`${namespace}/${name}`)?.nodeName === nodeName);
  return pod;
}

interface BindingTo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

function bindingArgs(to: BindingTo) {
  return { PodName: to.name, PodNamespace: to.namespace, PodUID: to.uid, Node: to.node };
}

describe('bind', () => {
  test('gives the pod its node, however often it is asked', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    await fixture.node('n2', '10Gi');
    const { metadata } = await fixture.pod('p');
    const args = bindingArgs({ namespace, name: 'p', uid: metadata?.uid ?? '', node: 'n1' });
    const answers = await Promise.all([1, 2, 3].map(() => fixture.ask('/bind', args)));
    expect(answers.map(({ body }) => body)).toEqual([{ Error: '' }, { Error: '' }, { Error: '' }]);
    await fixture.known(() => fixture.binding.index.pods.stored('default/p')?.nodeName === 'n1');
    expect((await fixture.ask('/bind', args)).body).toEqual({ Error: '' });
    expect((await fixture.ask('/bind', { ...args, Node: 'n2' })).body).toEqual({
      Error: 'pod default/p is already assigned to node "n1"',
    });
  });

  test('says what is in the way, and that with status 200', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '2Gi');
    const { metadata } = await fixture.pod('p', '3Gi');
    const uid = metadata?.uid ?? '';
    const { status, body } = await fixture.ask(
      '/bind',
      bindingArgs({ namespace, name: 'p', uid, node: 'n1' }),
    );
    expect([status, body]).toEqual([200, { Error: 'node(s) did not have enough free storage' }]);
    const other = bindingArgs({ namespace, name: 'p', uid: 'another', node: 'n1' });
    expect((await fixture.ask('/bind', other)).body).toEqual({
      Error: 'pod default/p with uid another is gone, or not known yet',
    });
  });

  test('of a pod with unbound claims selects its node and waits for the volumes first', async () => {
    await using fixture = await ExtenderFixture.start();
    await fixture.node('n1', '10Gi');
    const { metadata } = await fixture.pod('p', '3Gi');
    const args = bindingArgs({ namespace, name: 'p', uid: metadata?.uid ?? '', node: 'n1' });
    const answer = fixture.ask('/bind', args);
    await fixture.known(() => fixture.binding.index.claims.get('default/p-0')?.selectedNode === 'n1');
    expect(fixture.binding.index.pods.stored('default/p')?.nodeName).toBe('');
    await fixture.fixture.cluster.resource(persistentVolumes).create({
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
    await fixture.known(() => fixture.binding.index.pods.stored('default/p')?.nodeName === 'n1');
  });
});
