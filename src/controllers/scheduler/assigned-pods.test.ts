import { expect, test } from 'vitest';
import type { PodSpec } from '../../kube/api/core.ts';
import { persistentVolumeClaims } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import {
  claimRefs,
  deletePod,
  observeVolumesOnce,
  runController,
  selectedNode,
  startBinding,
} from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { namespace } from './testing/scheduler-fixture.ts';

const onNode = { spec: { nodeName: 'n1' } };
const asking = { ...onNode, metadata: { annotations: { [annotations.bindClaims]: 'true' } } };
const made = { storageClassName: 'made' };
const remedy =
  'ClaimsNotBound: the pod was created with spec.nodeName, so the claims default/data stay unbound: they wait for the scheduler. ' +
  'Use spec.nodeSelector or node affinity instead of spec.nodeName, or annotate the pod with stowage.dev/bind-claims: "true"';

test('the owner of a pod that was created with a node hears that nobody binds its claims', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], onNode);
  await fixture.settle(60_000);
  expect(await fixture.eventsOf('web')).toEqual([remedy]);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('also when the claim comes after the pod', async () => {
  await using fixture = await startBinding();
  await fixture.pod('web', ['data'], onNode);
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toEqual([]);
  await fixture.claim('data', '5Gi');
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toEqual([remedy]);
});

test('pods of other schedulers are left alone', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], { ...asking, spec: { ...asking.spec, schedulerName: 'another' } });
  await fixture.settle(20_000);
  expect(await fixture.eventsOf('web')).toEqual([]);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('a pod that asks for it has its claims bound for its node, as soon as there is something', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d2', '10Gi', 'n2');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], asking);
  await fixture.settle();
  expect(await claimRefs(fixture)).toEqual([]);
  expect(await fixture.eventsOf('web')).toEqual([
    expect.stringMatching(/^FailedScheduling: .*didn't find available persistent volumes to bind/),
  ]);
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.settle();
  expect(await fixture.summary()).toEqual([
    'claim data has d1',
    'disk d1 Bound to data',
    'disk d2 Available to no claim',
    'pod web on n1',
  ]);
});

test('it has new volumes made for its node, again and again if need be', async () => {
  const maker = new FakeProvisioner();
  maker.outcome = () => 'refuses';
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data'], asking);
  await fixture.settle(25_000);
  expect(maker.requests.length).toBeGreaterThanOrEqual(2);
  expect(maker.requests.length).toBeLessThanOrEqual(4);
  maker.outcome = () => 'makes';
  await fixture.settle(15_000);
  expect(await fixture.summary()).toContainEqual(expect.stringMatching(/^claim data has pvc-/));
});

test('many of them that wait for a provisioner do not keep others waiting', async () => {
  await using fixture = await startBinding();
  for (let at = 0; at < 8; at += 1) {
    await fixture.claim(`slow${at}`, '5Gi', made);
    await fixture.pod(`slow${at}`, [`slow${at}`], asking);
  }
  await fixture.settle();
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data'], asking);
  await fixture.settle();
  expect(await selectedNode(fixture, 'data')).toBe('n1');
});

test('a reservation for it is given back when it is deleted', async () => {
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', made);
  await fixture.pod('web', ['data'], asking);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await fixture.settle(15_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: PersistentVolumeClaim default/data is being deleted',
  );
});

test('pods that are pinned by name, as those of a DaemonSet, get their volumes there', async () => {
  const maker = new FakeProvisioner();
  await using fixture = await startBinding({ provisioner: maker });
  await fixture.disk('d3', '10Gi', 'n3');
  const pinned = (node: string): PodSpec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
        },
      },
    },
  });
  await fixture.claim('new', '5Gi', made);
  await fixture.claim('old', '5Gi');
  await fixture.pod('on-n2', ['new'], { spec: pinned('n2') });
  await fixture.pod('on-n3', ['old'], { spec: pinned('n3') });
  await fixture.settle();
  expect(maker.requests).toEqual(['new n2']);
  expect(await fixture.summary()).toEqual(expect.arrayContaining(['pod on-n2 on n2', 'pod on-n3 on n3']));
});

test('a pod with a node that comes under the name of one on its way gets its claims bound', async () => {
  await using fixture = await startBinding({ controllers: ['protection'] });
  await fixture.disk('d1', '10Gi', 'n1');
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  await deletePod(fixture, 'web');
  await fixture.pod('web', ['data'], asking);
  await fixture.settle(2_000);
  runController(fixture, 'pv-binder');
  await fixture.settle(30_000);
  expect(await fixture.summary()).toContain('claim data has d1');
});
