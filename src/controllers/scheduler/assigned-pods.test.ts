import { expect, test } from 'vitest';
import type { PodSpec } from '../../kube/api/core.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import {
  claimRefs,
  deletePod,
  runBeside,
  selectedNode,
  startBinding,
  withoutBinder,
} from './testing/binding-world.ts';
import { Maker } from './testing/maker.ts';
import { namespace } from './testing/scheduler-world.ts';

const onNode = { spec: { nodeName: 'n1' } };
const asking = { ...onNode, metadata: { annotations: { [annotations.bindClaims]: 'true' } } };
const made = { storageClassName: 'made' };
const remedy =
  'ClaimsNotBound: the pod was created with spec.nodeName, so nobody binds default/data, which wait for the scheduler. ' +
  'Use spec.nodeSelector or node affinity instead of spec.nodeName, or annotate the pod with stowage.dev/bind-claims: "true"';

test('the owner of a pod that was created with a node hears that nobody binds its claims', async () => {
  await using world = await startBinding();
  await world.disk('d1', '10Gi', 'n1');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data'], onNode);
  await world.settle(60_000);
  expect(await world.toldOf('web')).toEqual([remedy]);
  expect(await claimRefs(world)).toEqual([]);
});

test('also when the claim comes after the pod', async () => {
  await using world = await startBinding();
  await world.pod('web', ['data'], onNode);
  await world.settle();
  expect(await world.toldOf('web')).toEqual([]);
  await world.claim('data', '5Gi');
  await world.settle();
  expect(await world.toldOf('web')).toEqual([remedy]);
});

test('pods of other schedulers are left alone', async () => {
  await using world = await startBinding();
  await world.disk('d1', '10Gi', 'n1');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data'], { ...asking, spec: { ...asking.spec, schedulerName: 'another' } });
  await world.settle(20_000);
  expect(await world.toldOf('web')).toEqual([]);
  expect(await claimRefs(world)).toEqual([]);
});

test('a pod that asks for it has its claims bound for its node, as soon as there is something', async () => {
  await using world = await startBinding();
  await world.disk('d2', '10Gi', 'n2');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data'], asking);
  await world.settle();
  expect(await claimRefs(world)).toEqual([]);
  expect(await world.toldOf('web')).toEqual([
    expect.stringMatching(/^FailedScheduling: .*didn't find available persistent volumes to bind/),
  ]);
  await world.disk('d1', '10Gi', 'n1');
  await world.settle();
  expect(await world.lines()).toEqual([
    'claim data has d1',
    'disk d1 Bound to data',
    'disk d2 Available to nobody',
    'pod web on n1',
  ]);
});

test('it has new volumes made for its node, again and again if need be', async () => {
  const maker = new Maker();
  maker.answer = () => 'refuses';
  await using world = await startBinding({ maker });
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data'], asking);
  await world.settle(25_000);
  expect(maker.asked.length).toBeGreaterThanOrEqual(2);
  expect(maker.asked.length).toBeLessThanOrEqual(4);
  maker.answer = () => 'makes';
  await world.settle(15_000);
  expect(await world.lines()).toContainEqual(expect.stringMatching(/^claim data has pvc-/));
});

test('many of them that wait for a provisioner do not keep others waiting', async () => {
  await using world = await startBinding();
  for (let at = 0; at < 8; at += 1) {
    await world.claim(`slow${at}`, '5Gi', made);
    await world.pod(`slow${at}`, [`slow${at}`], asking);
  }
  await world.settle();
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data'], asking);
  await world.settle();
  expect(await selectedNode(world, 'data')).toBe('n1');
});

test('a reservation for it is given back when it is deleted', async () => {
  await using world = await startBinding();
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data'], asking);
  await world.settle();
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await world.settle(15_000);
  expect(await world.toldOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: PersistentVolumeClaim default/data is being deleted',
  );
});

test('pods that are pinned by name, as those of a DaemonSet, get their volumes there', async () => {
  const maker = new Maker();
  await using world = await startBinding({ maker });
  await world.disk('d3', '10Gi', 'n3');
  const pinned = (node: string): PodSpec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
        },
      },
    },
  });
  await world.claim('new', '5Gi', made);
  await world.claim('old', '5Gi');
  await world.pod('on-n2', ['new'], { spec: pinned('n2') });
  await world.pod('on-n3', ['old'], { spec: pinned('n3') });
  await world.settle();
  expect(maker.asked).toEqual(['new n2']);
  expect(await world.lines()).toEqual(expect.arrayContaining(['pod on-n2 on n2', 'pod on-n3 on n3']));
});

test('a pod with a node that comes under the name of one on its way gets its claims bound', async () => {
  await using world = await startBinding({ beside: ['protection'] });
  await world.disk('d1', '10Gi', 'n1');
  await withoutBinder(world);
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  await deletePod(world, 'web');
  await world.pod('web', ['data'], asking);
  await world.settle(2_000);
  runBeside(world, 'pv-binder');
  await world.settle(30_000);
  expect(await world.lines()).toContain('claim data has d1');
});
