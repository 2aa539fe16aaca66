import { expect, test } from 'vitest';
import type { Cluster } from '../../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites, failOnce } from '../../../cluster/testing/fault-hooks.ts';
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

/** A cluster without controllers, and the effects of an eviction. */
class EvictionFixture implements AsyncDisposable {
  readonly environment: RealTimeCluster;
  readonly events: EventInput[] = [];
  readonly written: string[] = [];
  readonly cancelled: string[] = [];
  canCancel = true;

  constructor(environment: RealTimeCluster) {
    this.environment = environment;
  }

  static async start(): Promise<EvictionFixture> {
    return new EvictionFixture(await RealTimeCluster.start());
  }

  get #pods() {
    return this.environment.cluster.resource(pods);
  }

  async pod(name: string, spec: Pod['spec'] = {}, status: Pod['status'] = {}): Promise<Pod> {
    const created = await this.#pods.create({
      metadata: { namespace: 'default', name },
      spec: { containers: [{ name: 'main', image: 'main' }], schedulerName: 'stowage', ...spec },
    });
    if (Object.keys(status).length === 0) return created;
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
    plan: Partial<VictimEvictionPlan> & Pick<VictimEvictionPlan, 'preemptor'>,
    cluster: Cluster = this.environment.cluster,
  ): Promise<boolean> {
    const context = {
      cluster,
      clock: realClock,
      events: { record: (event: EventInput) => void this.events.push(event) },
      noteWrite: (pod: Pod) => void this.written.push(pod.metadata?.name ?? ''),
      cancel: (pod: Pod) => {
        this.cancelled.push(pod.metadata?.name ?? '');
        return this.canCancel;
      },
    };
    return await evictVictims(context, { node: 'n1', victims: [], nominated: [], ...plan }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.environment[Symbol.asyncDispose]();
  }
}

function keyOf(name: string) {
  return { namespace: 'default', name };
}

const bound = (pod: Pod) => ({ pod, isAssumed: false });
const assumed = (pod: Pod) => ({ pod, isAssumed: true });
const isMarked = (pod: Pod | undefined) =>
  getCondition(pod?.status?.conditions, 'DisruptionTarget')?.reason === 'PreemptionByScheduler';
const isTerminating = (pod: Pod | undefined) => pod?.metadata?.deletionTimestamp !== undefined;

test('a victim gets its condition and its event and is deleted, and the preemptor is nominated', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const victim = await fixture.running('v');
  expect(await fixture.evict({ preemptor, victims: [bound(victim)] })).toBe(true);
  const terminating = await fixture.get('v');
  expect(isTerminating(terminating)).toBe(true);
  expect(getCondition(terminating?.status?.conditions, 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: 'stowage: preempting to accommodate a higher priority pod',
    lastTransitionTime: expect.any(String),
  });
  expect((await fixture.get('p'))?.status?.nominatedNodeName).toBe('n1');
  expect(fixture.written).toEqual(['p', 'v']);
  expect(fixture.events).toMatchObject([
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

test('conditions that a kubelet has written meanwhile stay', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const victim = await fixture.running('v');
  const conditions = [{ type: 'Ready', status: 'True' }];
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await fixture.environment.cluster.resource(pods).patch(keyOf('v'), patch, { subresource: 'status' });
  await fixture.evict({ preemptor, victims: [bound(victim)] });
  const terminating = await fixture.get('v');
  expect([isMarked(terminating), isTerminating(terminating)]).toEqual([true, true]);
  expect(getCondition(terminating?.status?.conditions, 'Ready')?.status).toBe('True');
});

test('victims that are gone, re-created or already terminating are skipped', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const gone = await fixture.pod('gone');
  const replaced = await fixture.pod('replaced');
  const terminating = await fixture.running('terminating');
  const client = fixture.environment.cluster.resource(pods);
  await client.delete(keyOf('gone'), { gracePeriodSeconds: 0 });
  await client.delete(keyOf('replaced'), { gracePeriodSeconds: 0 });
  await client.delete(keyOf('terminating'));
  await fixture.running('replaced');
  const seen = await fixture.get('terminating');
  const victims = [bound(gone), bound(replaced), bound(seen ?? terminating)];
  expect(await fixture.evict({ preemptor, victims })).toBe(true);
  expect(isTerminating(await fixture.get('replaced'))).toBe(false);
  expect(isMarked(await fixture.get('replaced'))).toBe(false);
  expect(isMarked(await fixture.get('terminating'))).toBe(false);
  expect(fixture.events).toEqual([]);
});

test('the binding of a victim in flight is cancelled, and the victim stays', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const victim = await fixture.pod('v');
  await fixture.evict({ preemptor, victims: [assumed(victim)] });
  expect(fixture.cancelled).toEqual(['v']);
  expect(isTerminating(await fixture.get('v'))).toBe(false);
  const note = `Preempted by pod ${preemptor.metadata?.uid} on node n1 (in kube-scheduler memory).`;
  expect(fixture.events).toMatchObject([{ reason: 'Preempted', note }]);
});

test('a victim whose binding cannot be cancelled is deleted', async () => {
  await using fixture = await EvictionFixture.start();
  fixture.canCancel = false;
  const preemptor = await fixture.pod('p');
  const victim = await fixture.pod('v');
  await fixture.evict({ preemptor, victims: [assumed(victim)] });
  expect(await fixture.get('v')).toBeUndefined();
  expect(fixture.events[0]?.note).toBe(`Preempted by pod ${preemptor.metadata?.uid} on node n1`);
});

test('no pod is evicted for a preemptor that is gone, has a node or was re-created', async () => {
  await using fixture = await EvictionFixture.start();
  const client = fixture.environment.cluster.resource(pods);
  const victims = [bound(await fixture.running('v'))];
  const gone = await fixture.pod('gone');
  await client.delete(keyOf('gone'), { gracePeriodSeconds: 0 });
  const placed = await fixture.pod('placed');
  const target = { kind: 'Node', name: 'n2' };
  await client.post(keyOf('placed'), 'binding', { metadata: { name: 'placed' }, target } as never);
  const replaced = await fixture.pod('replaced');
  await client.delete(keyOf('replaced'), { gracePeriodSeconds: 0 });
  await fixture.pod('replaced');
  for (const preemptor of [gone, placed, replaced])
    expect(await fixture.evict({ preemptor, victims })).toBe(false);
  expect(isTerminating(await fixture.get('v'))).toBe(false);
  expect((await fixture.get('placed'))?.status?.nominatedNodeName).toBeUndefined();
  expect((await fixture.get('replaced'))?.status?.nominatedNodeName).toBeUndefined();
});

test('a preemptor that another client has changed is read again', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  await fixture.environment.cluster.resource(pods).patch(keyOf('p'), patch);
  expect(await fixture.evict({ preemptor })).toBe(true);
  expect((await fixture.get('p'))?.status?.nominatedNodeName).toBe('n1');
});

test('pods of lower priority lose their nomination to the node, others keep theirs', async () => {
  await using fixture = await EvictionFixture.start();
  const to = (nominatedNodeName: string) => ({ nominatedNodeName });
  const low = await fixture.pod('low', {}, to('n1'));
  const elsewhere = await fixture.pod('elsewhere', {}, to('n2'));
  const stale = await fixture.pod('stale', {}, to('n1'));
  const moved = { type: 'merge', body: { status: to('n3') } } as const;
  await fixture.environment.cluster.resource(pods).patch(keyOf('stale'), moved, { subresource: 'status' });
  const preemptor = { ...(await fixture.pod('p')), spec: { priority: 10, schedulerName: 'stowage' } };
  const equal = { ...(await fixture.pod('equal', {}, to('n1'))), spec: { priority: 10 } };
  await fixture.evict({ preemptor, nominated: [low, elsewhere, stale, equal] });
  const nominations = await Promise.all(
    ['low', 'elsewhere', 'stale', 'equal'].map(
      async (name) => (await fixture.get(name))?.status?.nominatedNodeName,
    ),
  );
  expect(nominations).toEqual([undefined, 'n2', 'n3', 'n1']);
});

test('a victim that cannot be evicted does not prevent the eviction of the others', async () => {
  await using fixture = await EvictionFixture.start();
  const preemptor = await fixture.pod('p');
  const victims = [bound(await fixture.running('stuck')), bound(await fixture.running('v'))];
  const isAffected = ({ verb, name }: ClusterCall) => verb === 'delete' && name === 'stuck';
  const error = failure(500, 'InternalError', 'no');
  const failing = new InterceptedCluster(fixture.environment.cluster, failOnce(isAffected, error));
  await expect(fixture.evict({ preemptor, victims }, failing)).rejects.toThrow('no');
  expect(isTerminating(await fixture.get('v'))).toBe(true);
});

test('after a crash at any write, a second eviction completes the first', async () => {
  let crashes = 0;
  for (let writesMax = 1; ; writesMax++) {
    await using fixture = await EvictionFixture.start();
    await fixture.pod('p');
    for (const name of ['v1', 'v2']) await fixture.running(name);
    await fixture.pod('low', {}, { nominatedNodeName: 'n1' });
    const preemptor = async () => ({
      ...(await fixture.get('p')),
      spec: { priority: 10, schedulerName: 's' },
    });
    const plan = async () => ({
      preemptor: await preemptor(),
      victims: [bound((await fixture.get('v1'))!), bound((await fixture.get('v2'))!)],
      nominated: [(await fixture.get('low'))!],
    });
    const crash = new CrashAfterWrites(writesMax);
    const crashing = new InterceptedCluster(fixture.environment.cluster, crash);
    const isDone = await fixture.evict(await plan(), crashing).catch(() => false);
    // The preemptor is nominated before any victim is evicted.
    expect((await fixture.get('p'))?.status?.nominatedNodeName).toBe('n1');
    if (!isDone) crashes += 1;
    expect(await fixture.evict(await plan())).toBe(true);
    for (const name of ['v1', 'v2']) {
      const victim = await fixture.get(name);
      expect([isMarked(victim), isTerminating(victim)]).toEqual([true, true]);
    }
    expect((await fixture.get('low'))?.status?.nominatedNodeName).toBeUndefined();
    if (isDone) break;
  }
  // Nomination, clearing of a nomination, and condition and deletion for each victim.
  expect(crashes).toBe(6);
});
