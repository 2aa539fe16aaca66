import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../../../kube/api/core.ts';
import { configMaps, nodes, pods, secrets } from '../../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { getPod, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';

async function startWithNode(): Promise<VirtualTimeCluster> {
  const fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  return fixture;
}

function readiness({ status }: Pod): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

const failing = { 'stowage.dev/run-seconds': '5', 'stowage.dev/exit-code': '3' };

test('a pod that never restarts fails with the exit code that it asks for', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'job', { spec: { restartPolicy: 'Never' }, annotations: failing });
  await fixture.settle(10_000);
  expect((await getPod(fixture, 'job')).status).toMatchObject({
    phase: 'Failed',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 3, reason: 'Error' } } }],
  });
});

test('a pod that restarts on failure restarts at once, and then after a back-off', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'job', { spec: { restartPolicy: 'OnFailure' }, annotations: failing });
  await fixture.settle(7_000);
  expect((await getPod(fixture, 'job')).status).toMatchObject({
    phase: 'Running',
    containerStatuses: [
      { ready: true, restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode: 3 } } },
    ],
  });
  await fixture.settle(6_000);
  const waiting = await getPod(fixture, 'job');
  expect(waiting.status?.containerStatuses).toMatchObject([
    { ready: false, restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } },
  ]);
  expect(waiting.status?.containerStatuses?.[0]?.state).not.toHaveProperty('running');
  expect(readiness(waiting)).toBe('False');
  await fixture.settle(10_000);
  const restarted = await getPod(fixture, 'job');
  expect(restarted.status?.containerStatuses).toMatchObject([{ ready: true, restartCount: 2 }]);
  expect(readiness(restarted)).toBe('True');
});

test('a pod of a Job completes without an annotation', async () => {
  await using fixture = await startWithNode();
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'u', controller: true };
  const spec = {
    nodeName: 'n1',
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'pause' }],
  } as const;
  await fixture.cluster
    .resource(pods)
    .create({ metadata: { namespace, name: 'job', ownerReferences: [owner] }, spec });
  await fixture.settle(3_000);
  expect(await phases(fixture)).toEqual(['job Succeeded']);
});

test('a pod fails when its active deadline is over', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'web', { spec: { activeDeadlineSeconds: 10 } });
  await fixture.settle(8_000);
  expect(await phases(fixture)).toEqual(['web Running']);
  await fixture.settle(4_000);
  const message = 'Pod was active on the node longer than the specified deadline';
  expect((await getPod(fixture, 'web')).status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message,
    containerStatuses: [{ ready: false, state: { terminated: {} } }],
  });
  expect(await fixture.eventLines()).toEqual([`DeadlineExceeded web: ${message}`]);
});

test('a pod that cannot start fails at its deadline, too', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'web', { claims: ['missing'], spec: { activeDeadlineSeconds: 10 } });
  await fixture.settle(8_000);
  expect(await phases(fixture)).toEqual(['web Pending']);
  await fixture.settle(4_000);
  expect(await phases(fixture)).toEqual(['web Failed']);
});

test('a container is ready when the initial delays of its probes are over', async () => {
  await using fixture = await startWithNode();
  const exec = { command: ['true'] };
  const container = {
    name: 'main',
    image: 'pause',
    startupProbe: { exec, initialDelaySeconds: 5 },
    readinessProbe: { exec, initialDelaySeconds: 20 },
  };
  await makePod(fixture, 'web', { spec: { containers: [container] } });
  await fixture.settle();
  const first = await getPod(fixture, 'web');
  expect(first.status).toMatchObject({
    phase: 'Running',
    containerStatuses: [{ ready: false, started: false }],
  });
  expect(first.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'ContainersReady',
      status: 'False',
      message: 'containers with unready status: [main]',
    }),
  );
  await fixture.settle(10_000);
  expect((await getPod(fixture, 'web')).status?.containerStatuses).toMatchObject([
    { ready: false, started: true },
  ]);
  await fixture.settle(11_000);
  const last = await getPod(fixture, 'web');
  expect(last.status?.containerStatuses).toMatchObject([{ ready: true, started: true, restartCount: 0 }]);
  expect(readiness(last)).toBe('True');
});

test('the status of a running pod follows its generation', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'web');
  await fixture.settle();
  const body = { spec: { activeDeadlineSeconds: 1_000_000 } };
  await fixture.cluster.resource(pods).patch({ namespace, name: 'web' }, { type: 'merge', body });
  await fixture.settle();
  const { metadata, status } = await getPod(fixture, 'web');
  expect(metadata?.generation).toBe(2);
  expect(status?.observedGeneration).toBe(2);
  const generations = (status?.conditions ?? []).map(({ observedGeneration }) => observedGeneration);
  expect(new Set(generations)).toEqual(new Set([2]));
});

const main = (more: object): PodSpec => ({ containers: [{ name: 'main', image: 'pause', ...more }] });

test.each([
  {
    what: 'a Secret in env',
    spec: main({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'config', key: 'a' } } }] }),
    message: 'secret "config" not found',
  },
  {
    what: 'a ConfigMap in env',
    spec: main({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'config', key: 'a' } } }] }),
    message: 'configmap "config" not found',
  },
  {
    what: 'a Secret in envFrom',
    spec: main({ envFrom: [{ secretRef: { name: 'config' } }] }),
    message: 'secret "config" not found',
  },
  {
    what: 'a ConfigMap in envFrom',
    spec: main({ envFrom: [{ configMapRef: { name: 'config' } }] }),
    message: 'configmap "config" not found',
  },
])('a container waits for $what, with the reason', async ({ spec, message }) => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'web', { spec });
  await fixture.settle();
  expect((await getPod(fixture, 'web')).status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ state: { waiting: { reason: 'CreateContainerConfigError', message } } }],
  });
  expect(await fixture.eventLines()).toEqual([`Failed web: Error: ${message}`]);
  const metadata = { namespace, name: 'config' };
  await fixture.cluster.resource(secrets).create({ metadata, data: { a: 'YQ==' } });
  await fixture.cluster.resource(configMaps).create({ metadata, data: { a: 'a' } });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a container waits for a key of a Secret', async () => {
  await using fixture = await startWithNode();
  await fixture.cluster.resource(secrets).create({ metadata: { namespace, name: 'config' } });
  const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'config', key: 'a' } } }];
  await makePod(fixture, 'web', { spec: main({ env }) });
  await fixture.settle();
  expect(await fixture.eventLines()).toEqual([
    "Failed web: Error: couldn't find key a in Secret default/config",
  ]);
  await fixture.cluster
    .resource(secrets)
    .patch({ namespace, name: 'config' }, { type: 'merge', body: { data: { a: 'YQ==' } } });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('optional references do not hold a pod back', async () => {
  await using fixture = await startWithNode();
  const optional = { name: 'config', key: 'a', optional: true };
  await makePod(fixture, 'web', {
    spec: {
      ...main({
        env: [{ name: 'A', valueFrom: { secretKeyRef: optional } }],
        envFrom: [{ configMapRef: { name: 'config', optional: true } }],
      }),
      volumes: [{ name: 'v', secret: { secretName: 'config', optional: true } }],
    },
  });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a pod waits for the Secret of a volume in ContainerCreating', async () => {
  await using fixture = await startWithNode();
  await makePod(fixture, 'web', { spec: { volumes: [{ name: 'v', secret: { secretName: 'config' } }] } });
  await fixture.settle();
  expect((await getPod(fixture, 'web')).status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
  });
  expect(await fixture.eventLines()).toEqual([
    'FailedMount web: MountVolume.SetUp failed for volume "v" : secret "config" not found',
  ]);
  await fixture.cluster.resource(secrets).create({ metadata: { namespace, name: 'config' } });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('a simulated node reports a version and its extended resources', async () => {
  await using fixture = await startWithNode();
  await fixture.settle();
  const body = { status: { capacity: { 'example.com/gpu': '5' } } };
  await fixture.cluster
    .resource(nodes)
    .patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  await fixture.settle();
  const { status } = await fixture.cluster.resource(nodes).get({ name: 'n1' });
  expect(status?.nodeInfo?.kubeletVersion).toMatch(/^v1\./);
  expect(status?.allocatable).toMatchObject({ 'example.com/gpu': '5' });
});
