import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { CrashAfterWrites, failOnce } from '../../../cluster/testing/fault-hooks.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/testing/intercepted-cluster.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { failure } from '../../../kube/api-error.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { pods } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { EventInput } from '../../../reconcile/event-recorder.ts';
import { realClock } from '../../../runtime/clock.ts';
import { RealTimeCluster } from '../../testing/real-time-cluster.ts';
import { evictVictims, type VictimEvictionPlan } from './evict-victims.ts';

const { signal } = new AbortController();

/** A cluster without controllers, and what an eviction did to it. */
class Scene implements AsyncDisposable {
  readonly fixture: RealTimeCluster;
  readonly happenings: EventInput[] = [];
  readonly written: string[] = [];
  readonly cancelled: string[] = [];
  canCancel = true;

  constructor(fixture: RealTimeCluster) {
    this.fixture = fixture;
  }

  static async start(): Promise<Scene> {
    return new Scene(await RealTimeCluster.start());
  }

  get #pods() {
    return this.fixture.cluster.resource(pods);
  }

  async pod(name: string, spec: Pod['spec'] = {}, status: Pod['status'] = {}): Promise<Pod> {
    const made = await this.#pods.create({
      metadata: { namespace: 'default', name },
      spec: { containers: [{ name: 'main', image: 'main' }], schedulerName: 'stowage', ...spec },
    });
    if (Object.keys(status).length === 0) return made;
    const patch = { type: 'merge', body: { status } } as const;
    return await this.#pods.patch(keyOf(name), patch, { subresource: 'status' });
  }

  async running(name: string): Promise<Pod> {
    return await this.pod(name, { nodeName: 'n1' }, { phase: 'Running' });
  }

  async get(name: string): Promise<Pod | undefined> {
    return await undefinedIfNotFound(this.#pods.get(keyOf(name)));
  }

  async evict(
    order: Partial<VictimEvictionPlan> & Pick<VictimEvictionPlan, 'preemptor'>,
    cluster: Cluster = this.fixture.cluster,
  ): Promise<boolean> {
    const context = {
      cluster,
      clock: realClock,
      events: { record: (happening: EventInput) => void this.happenings.push(happening) },
      noteWrite: (pod: Pod) => void this.written.push(pod.metadata?.name ?? ''),
      cancel: (pod: Pod) => {
        this.cancelled.push(pod.metadata?.name ?? '');
        return this.canCancel;
      },
    };
    return await evictVictims(context, { node: 'n1', victims: [], nominated: [], ...order }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
  }
}

function keyOf(name: string) {
  return { namespace: 'default', name };
}

const bound = (pod: Pod) => ({ pod, isAssumed: false });
const assumed = (pod: Pod) => ({ pod, isAssumed: true });
const isMarked = (pod: Pod | undefined) =>
  getCondition(pod?.status?.conditions, 'DisruptionTarget')?.reason === 'PreemptionByScheduler';
const isEnding = (pod: Pod | undefined) => pod?.metadata?.deletionTimestamp !== undefined;

test('a victim is told why, marked and deleted, and the node is kept for the one that comes', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const victim = await scene.running('v');
  expect(await scene.evict({ preemptor, victims: [bound(victim)] })).toBe(true);
  const ending = await scene.get('v');
  expect(isEnding(ending)).toBe(true);
  expect(getCondition(ending?.status?.conditions, 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: 'stowage: preempting to accommodate a higher priority pod',
    lastTransitionTime: expect.any(String),
  });
  expect((await scene.get('p'))?.status?.nominatedNodeName).toBe('n1');
  expect(scene.written).toEqual(['p', 'v']);
  expect(scene.happenings).toMatchObject([
    {
      regarding: { kind: 'Pod', namespace: 'default', name: 'v', uid: victim.metadata?.uid },
      related: { kind: 'Pod', name: 'p' },
      type: 'Normal',
      reason: 'Preempted',
      action: 'Preempting',
      note: `Preempted by pod ${preemptor.metadata?.uid} on node n1`,
    },
  ]);
});

test('what a kubelet has written about the victim meanwhile stays', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const victim = await scene.running('v');
  const conditions = [{ type: 'Ready', status: 'True' }];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await scene.fixture.cluster.resource(pods).patch(keyOf('v'), patch, { subresource: 'status' });
  await scene.evict({ preemptor, victims: [bound(victim)] });
  const ending = await scene.get('v');
  expect([isMarked(ending), isEnding(ending)]).toEqual([true, true]);
  expect(getCondition(ending?.status?.conditions, 'Ready')?.status).toBe('True');
});

test('victims that are gone, replaced or ending already are nobody’s trouble', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const gone = await scene.pod('gone');
  const replaced = await scene.pod('replaced');
  const ending = await scene.running('ending');
  const client = scene.fixture.cluster.resource(pods);
  await client.delete(keyOf('gone'), { gracePeriodSeconds: 0 });
  await client.delete(keyOf('replaced'), { gracePeriodSeconds: 0 });
  await client.delete(keyOf('ending'));
  await scene.running('replaced');
  const seen = await scene.get('ending');
  const victims = [bound(gone), bound(replaced), bound(seen ?? ending)];
  expect(await scene.evict({ preemptor, victims })).toBe(true);
  expect(isEnding(await scene.get('replaced'))).toBe(false);
  expect(isMarked(await scene.get('replaced'))).toBe(false);
  expect(isMarked(await scene.get('ending'))).toBe(false);
  expect(scene.happenings).toEqual([]);
});

test('a victim that is about to be bound is let go of, and stays', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const victim = await scene.pod('v');
  await scene.evict({ preemptor, victims: [assumed(victim)] });
  expect(scene.cancelled).toEqual(['v']);
  expect(isEnding(await scene.get('v'))).toBe(false);
  const note = `Preempted by pod ${preemptor.metadata?.uid} on node n1 (in kube-scheduler memory).`;
  expect(scene.happenings).toMatchObject([{ reason: 'Preempted', note }]);
});

test('a victim that it is too late to let go of is deleted like others', async () => {
  await using scene = await Scene.start();
  scene.canCancel = false;
  const preemptor = await scene.pod('p');
  const victim = await scene.pod('v');
  await scene.evict({ preemptor, victims: [assumed(victim)] });
  expect(await scene.get('v')).toBeUndefined();
  expect(scene.happenings[0]?.note).toBe(`Preempted by pod ${preemptor.metadata?.uid} on node n1`);
});

test('others are evicted for nobody who has gone, is going, has a node or has been replaced', async () => {
  await using scene = await Scene.start();
  const client = scene.fixture.cluster.resource(pods);
  const victims = [bound(await scene.running('v'))];
  const gone = await scene.pod('gone');
  await client.delete(keyOf('gone'), { gracePeriodSeconds: 0 });
  const placed = await scene.pod('placed');
  const target = { kind: 'Node', name: 'n2' };
  await client.post(keyOf('placed'), 'binding', { metadata: { name: 'placed' }, target } as never);
  const replaced = await scene.pod('replaced');
  await client.delete(keyOf('replaced'), { gracePeriodSeconds: 0 });
  await scene.pod('replaced');
  for (const preemptor of [gone, placed, replaced])
    expect(await scene.evict({ preemptor, victims })).toBe(false);
  expect(isEnding(await scene.get('v'))).toBe(false);
  expect((await scene.get('placed'))?.status?.nominatedNodeName).toBeUndefined();
  expect((await scene.get('replaced'))?.status?.nominatedNodeName).toBeUndefined();
});

test('a preemptor that somebody wrote about is looked at again', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  await scene.fixture.cluster.resource(pods).patch(keyOf('p'), patch);
  expect(await scene.evict({ preemptor })).toBe(true);
  expect((await scene.get('p'))?.status?.nominatedNodeName).toBe('n1');
});

test('lower pods lose their nomination to the node, others keep theirs', async () => {
  await using scene = await Scene.start();
  const to = (nominatedNodeName: string) => ({ nominatedNodeName });
  const low = await scene.pod('low', {}, to('n1'));
  const elsewhere = await scene.pod('elsewhere', {}, to('n2'));
  const stale = await scene.pod('stale', {}, to('n1'));
  const moved = { type: 'merge', body: { status: to('n3') } } as const;
  await scene.fixture.cluster.resource(pods).patch(keyOf('stale'), moved, { subresource: 'status' });
  const preemptor = { ...(await scene.pod('p')), spec: { priority: 10, schedulerName: 'stowage' } };
  const equal = { ...(await scene.pod('equal', {}, to('n1'))), spec: { priority: 10 } };
  await scene.evict({ preemptor, nominated: [low, elsewhere, stale, equal] });
  const nominations = await Promise.all(
    ['low', 'elsewhere', 'stale', 'equal'].map(
      async (name) => (await scene.get(name))?.status?.nominatedNodeName,
    ),
  );
  expect(nominations).toEqual([undefined, 'n2', 'n3', 'n1']);
});

test('a victim that cannot be evicted does not keep the others', async () => {
  await using scene = await Scene.start();
  const preemptor = await scene.pod('p');
  const victims = [bound(await scene.running('stuck')), bound(await scene.running('v'))];
  const isAffected = ({ verb, name }: ClusterCall) => verb === 'delete' && name === 'stuck';
  const error = failure(500, 'InternalError', 'no');
  const stubborn = new InterceptedCluster(scene.fixture.cluster, failOnce(isAffected, error));
  await expect(scene.evict({ preemptor, victims }, stubborn)).rejects.toThrow('no');
  expect(isEnding(await scene.get('v'))).toBe(true);
});

test('whoever dies after any of the writes leaves something to go on from', async () => {
  let deaths = 0;
  for (let writesMax = 1; ; writesMax++) {
    await using scene = await Scene.start();
    await scene.pod('p');
    for (const name of ['v1', 'v2']) await scene.running(name);
    await scene.pod('low', {}, { nominatedNodeName: 'n1' });
    const preemptor = async () => ({ ...(await scene.get('p')), spec: { priority: 10, schedulerName: 's' } });
    const order = async () => ({
      preemptor: await preemptor(),
      victims: [bound((await scene.get('v1'))!), bound((await scene.get('v2'))!)],
      nominated: [(await scene.get('low'))!],
    });
    const crash = new CrashAfterWrites(writesMax);
    const crashing = new InterceptedCluster(scene.fixture.cluster, crash);
    const isDone = await scene.evict(await order(), crashing).catch(() => false);
    // Nobody goes before the node is kept for the one that comes.
    expect((await scene.get('p'))?.status?.nominatedNodeName).toBe('n1');
    if (!isDone) deaths += 1;
    expect(await scene.evict(await order())).toBe(true);
    for (const name of ['v1', 'v2']) {
      const victim = await scene.get(name);
      expect([isMarked(victim), isEnding(victim)]).toEqual([true, true]);
    }
    expect((await scene.get('low'))?.status?.nominatedNodeName).toBeUndefined();
    if (isDone) break;
  }
  // Nomination, clearing, and twice mark and deletion.
  expect(deaths).toBe(6);
});
