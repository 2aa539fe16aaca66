import { expect, test, vi } from 'vitest';
import type { ClusterCall } from '../cluster/intercepted-cluster.ts';
import { onlyFor, recordCalls } from '../cluster/testing/fault-hooks.ts';
import { failure } from '../kube/api-error.ts';
import { getCondition } from '../kube/conditions.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../kube/resources.ts';
import { annotations } from '../kube/well-known.ts';
import { BindFailure } from './bind-failure.ts';
import { type ReservedPod, SessionFixture } from './testing/session-fixture.ts';

const namespace = 'default';
const name = { namespace, name: 'p' };
const { signal: never } = new AbortController();
const noResponse = failure(504, 'Timeout', 'there was no response');
const isPodBinding = ({ verb }: ClusterCall) => verb === 'post';
const isClaimRead = ({ verb, resource }: ClusterCall) =>
  verb === 'get' && resource.plural === 'persistentvolumeclaims';
const isPodPatch = ({ verb, resource }: ClusterCall) => verb === 'patch' && resource.plural === 'pods';

function bind({ session }: SessionFixture, { pod, reservation }: ReservedPod): Promise<void> {
  return session.bind(pod, reservation, { extent: 'volumes and pod' }, never);
}

async function storedPod({ environment }: SessionFixture) {
  return await environment.cluster.resource(pods).get(name);
}

/** Other clients change the pod before the first binding arrives. */
function changeBeforeBinding({ connection, environment }: SessionFixture, metadata: object): void {
  let isChanged = false;
  const before = async () => {
    if (isChanged) return;
    isChanged = true;
    await environment.cluster.resource(pods).patch(name, { type: 'merge', body: { metadata } });
  };
  connection.addHooks(onlyFor(isPodBinding, { before }));
}

/** No binding gets a response. Returns those that are on their way. */
function loseBindings({ connection }: SessionFixture): readonly ClusterCall[] {
  const late: ClusterCall[] = [];
  const before = (call: ClusterCall) => {
    late.push(call);
    throw noResponse;
  };
  connection.addHooks(onlyFor(isPodBinding, { before }));
  return late;
}

test('a pod gets its node with one request, which carries its uid and version', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  const calls = recordCalls(fixture.connection);
  await bind(fixture, reserved);
  const { uid, resourceVersion } = reserved.pod.metadata ?? {};
  expect(calls).toMatchObject([{ verb: 'post', body: { metadata: { uid, resourceVersion } } }]);
});

test('a pod that another client annotates gets its node nevertheless', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  changeBeforeBinding(fixture, { annotations: { by: 'another client' } });
  const bindings = recordCalls(fixture.connection, isPodBinding);
  await bind(fixture, reserved);
  expect((await storedPod(fixture)).spec?.nodeName).toBe('n1');
  expect(bindings).toHaveLength(2);
});

test('a pod whose labels change must be planned again', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  changeBeforeBinding(fixture, { labels: { app: 'other' } });
  await expect(bind(fixture, reserved)).rejects.toThrow(BindFailure);
  expect((await storedPod(fixture)).spec?.nodeName).toBeUndefined();
});

test('a binding without a response is sent again', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  let isLost = false;
  const before = () => {
    if (isLost) return;
    isLost = true;
    throw noResponse;
  };
  fixture.connection.addHooks(onlyFor(isPodBinding, { before }));
  await bind(fixture, reserved);
  expect((await storedPod(fixture)).spec?.nodeName).toBe('n1');
});

test('a binding without a response cannot take effect after the reservation is released', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  const late = loseBindings(fixture);
  await expect(bind(fixture, reserved)).rejects.toThrow(new BindFailure('there was no response'));
  for (const call of late) await expect(call.send()).rejects.toThrow('Precondition failed');
  const { spec, status } = await storedPod(fixture);
  expect(spec?.nodeName).toBeUndefined();
  expect(getCondition(status?.conditions, 'PodScheduled')).toMatchObject({
    status: 'False',
    reason: 'SchedulerError',
    message: 'there was no response',
  });
});

test('a binding that takes effect while it is being superseded counts', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  const late = loseBindings(fixture);
  const before = async () => void (await late[0]?.send());
  fixture.connection.addHooks(onlyFor(isPodPatch, { before }));
  await bind(fixture, reserved);
  expect((await storedPod(fixture)).spec?.nodeName).toBe('n1');
});

test('a binding is superseded only when the pod could be written', async () => {
  await using fixture = await SessionFixture.start();
  const reserved = await fixture.reserved();
  const late = loseBindings(fixture);
  let failures = 0;
  const before = () => {
    failures += 1;
    if (failures < 3) throw failure(503, 'ServiceUnavailable', 'the server is not available');
    expect(fixture.log).toEqual([]);
  };
  fixture.connection.addHooks(onlyFor(isPodPatch, { before }));
  await expect(bind(fixture, reserved)).rejects.toThrow(BindFailure);
  expect([failures, fixture.log]).toEqual([3, ['reverted default/p']]);
  await expect(late[0]?.send()).rejects.toThrow('Precondition failed');
});

test('a claim that had its volume and is deleted meanwhile ends the binding', async () => {
  await using fixture = await SessionFixture.start();
  const { cluster } = fixture.environment;
  await fixture.claim();
  await createBoundClaim(fixture, 'early');
  const reserved = await fixture.reserved(['early', 'data']);
  const bound = expect(bind(fixture, reserved)).rejects.toThrow(
    new BindFailure('binding volumes: PersistentVolumeClaim default/early is gone'),
  );
  await vi.waitFor(
    async () => {
      const { metadata } = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data' });
      expect(metadata?.annotations?.[annotations.selectedNode]).toBe('n1');
    },
    { timeout: 120_000 },
  );
  await removeClaim(fixture, 'early');
  await bound;
  expect((await storedPod(fixture)).spec?.nodeName).toBeUndefined();
});

test('claims are read after a failed attempt: one whose deletion is not reported yet ends the binding', async () => {
  await using fixture = await SessionFixture.start();
  await createBoundClaim(fixture, 'early');
  const reserved = await fixture.reserved(['early']);
  const reads = recordCalls(fixture.connection, isClaimRead);
  let attempts = 0;
  const before = async () => {
    attempts += 1;
    expect(reads).toEqual([]);
    await removeClaim(fixture, 'early');
    throw noResponse;
  };
  fixture.connection.addHooks(onlyFor(isPodBinding, { before }));
  fixture.connection.addHooks({
    onWatchEvent: ({ resource }) => (resource.plural === 'persistentvolumeclaims' ? 'drop' : undefined),
  });
  await expect(bind(fixture, reserved)).rejects.toThrow(
    new BindFailure('PersistentVolumeClaim default/early is gone'),
  );
  expect([attempts, fixture.feed.index.claims.get('default/early') !== undefined]).toEqual([1, true]);
});

/** As the PV controller would have bound it. */
async function createBoundClaim({ environment, feed }: SessionFixture, claim: string): Promise<void> {
  const { cluster } = environment;
  const storage = '1Gi';
  const { metadata } = await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: claim, annotations: { [annotations.bindCompleted]: 'yes' } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      volumeName: 'v',
      resources: { requests: { storage } },
    },
  });
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'v' },
    spec: {
      capacity: { storage },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'slow',
      csi: { driver: 'slow.example.com', volumeHandle: 'v' },
      claimRef: { kind: 'PersistentVolumeClaim', namespace, name: claim, uid: metadata?.uid ?? '' },
    },
  });
  await vi.waitFor(() => expect(feed.index.volumes.get('v')?.claim).toBeDefined(), { timeout: 120_000 });
}

/** No controller runs that would end the protection of the claim. */
async function removeClaim({ environment }: SessionFixture, claim: string): Promise<void> {
  const client = environment.cluster.resource(persistentVolumeClaims);
  const body = { metadata: { finalizers: null } };
  await client.patch({ namespace, name: claim }, { type: 'merge', body });
  await client.delete({ namespace, name: claim });
}
