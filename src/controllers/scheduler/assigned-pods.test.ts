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
const withAnnotation = { ...onNode, metadata: { annotations: { [annotations.bindClaims]: 'true' } } };
const provisioned = { storageClassName: 'provisioned' };
const remedy =
  'ClaimsNotBound: the pod was created with spec.nodeName, so the claims default/data stay unbound: they wait for the scheduler. ' +
  'Use spec.nodeSelector or node affinity instead of spec.nodeName, or annotate the pod with stowage.dev/bind-claims: "true"';

test('an event says that the claims of a pod that was created with a node stay unbound', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], onNode);
  await fixture.settle(60_000);
  expect(await fixture.eventsOf('web')).toEqual([remedy]);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('the event also comes if the claim is created after the pod', async () => {
  await using fixture = await startBinding();
  await fixture.pod('web', ['data'], onNode);
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toEqual([]);
  await fixture.claim('data', '5Gi');
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toEqual([remedy]);
});

test('pods of other schedulers are ignored', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], {
    ...withAnnotation,
    spec: { ...withAnnotation.spec, schedulerName: 'another' },
  });
  await fixture.settle(20_000);
  expect(await fixture.eventsOf('web')).toEqual([]);
  expect(await claimRefs(fixture)).toEqual([]);
});

test('the claims of a pod with the annotation are bound on its node, as soon as there is a volume', async () => {
  await using fixture = await startBinding();
  await fixture.disk('d2', '10Gi', 'n2');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data'], withAnnotation);
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

test('its new volumes are provisioned for its node, with retries', async () => {
  const provisioner = new FakeProvisioner();
  provisioner.outcome = () => 'refuses';
  await using fixture = await startBinding({ provisioner });
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data'], withAnnotation);
  await fixture.settle(25_000);
  expect(provisioner.requests.length).toBeGreaterThanOrEqual(2);
  expect(provisioner.requests.length).toBeLessThanOrEqual(4);
  provisioner.outcome = () => 'creates';
  await fixture.settle(15_000);
  expect(await fixture.summary()).toContainEqual(expect.stringMatching(/^claim data has pvc-/));
});

test('many such pods that wait for a provisioner do not delay others', async () => {
  await using fixture = await startBinding();
  for (let at = 0; at < 8; at += 1) {
    await fixture.claim(`slow${at}`, '5Gi', provisioned);
    await fixture.pod(`slow${at}`, [`slow${at}`], withAnnotation);
  }
  await fixture.settle();
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data'], withAnnotation);
  await fixture.settle();
  expect(await selectedNode(fixture, 'data')).toBe('n1');
});

test('its reservation is reverted when it is deleted', async () => {
  await using fixture = await startBinding();
  await fixture.claim('data', '5Gi', provisioned);
  await fixture.pod('web', ['data'], withAnnotation);
  await fixture.settle();
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await fixture.settle(15_000);
  expect(await fixture.eventsOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: PersistentVolumeClaim default/data is being deleted',
  );
});

test('pods with affinity to a node name, like those of a DaemonSet, get their volumes there', async () => {
  const provisioner = new FakeProvisioner();
  await using fixture = await startBinding({ provisioner });
  await fixture.disk('d3', '10Gi', 'n3');
  const withNodeAffinity = (node: string): PodSpec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
        },
      },
    },
  });
  await fixture.claim('new', '5Gi', provisioned);
  await fixture.claim('old', '5Gi');
  await fixture.pod('on-n2', ['new'], { spec: withNodeAffinity('n2') });
  await fixture.pod('on-n3', ['old'], { spec: withNodeAffinity('n3') });
  await fixture.settle();
  expect(provisioner.requests).toEqual(['new n2']);
  expect(await fixture.summary()).toEqual(expect.arrayContaining(['pod on-n2 on n2', 'pod on-n3 on n3']));
});

test('a pod with a node gets its claims bound, even if it replaces a pod of the same name that is being bound', async () => {
  await using fixture = await startBinding({ controllers: ['protection'] });
  await fixture.disk('d1', '10Gi', 'n1');
  await observeVolumesOnce(fixture);
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  await deletePod(fixture, 'web');
  await fixture.pod('web', ['data'], withAnnotation);
  await fixture.settle(2_000);
  runController(fixture, 'pv-binder');
  await fixture.settle(30_000);
  expect(await fixture.summary()).toContain('claim data has d1');
});
