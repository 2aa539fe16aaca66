import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import { failWith, hang } from '../../cluster/testing/fault-hooks.ts';
import type { LeaseSpec } from '../../kube/api/coordination.ts';
import { failure } from '../../kube/api-error.ts';
import { leases } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { LeaderElector } from './leader-election.ts';

const lease = { namespace: 'kube-system', name: 'stowage' };

class ElectionFixture {
  readonly clock: VirtualClock;
  readonly history: string[] = [];
  readonly #embedded: EmbeddedFixture;

  private constructor(clock: VirtualClock, embedded: EmbeddedFixture) {
    this.clock = clock;
    this.#embedded = embedded;
  }

  static async start(): Promise<ElectionFixture> {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    return new ElectionFixture(clock, await EmbeddedFixture.start(clock));
  }

  /** Leases over a connection without faults. */
  get leases() {
    return this.#embedded.cluster.resource(leases);
  }

  async record(): Promise<LeaseSpec | undefined> {
    return (await this.leases.get(lease)).spec;
  }

  candidate(
    identity: string,
    work?: (signal: AbortSignal) => Promise<void>,
    annotations?: Readonly<Record<string, string>>,
  ) {
    const controller = new AbortController();
    // Each candidate has its own connection, which can be cut.
    const connection = new InterceptedCluster(this.#embedded.cluster);
    const elector = new LeaderElector({
      leases: connection.resource(leases),
      lease,
      identity,
      ...(annotations === undefined ? {} : { annotations }),
      clock: this.clock,
      random: seededRandom(identity),
      onStartedLeading: async (signal) => {
        this.history.push(`${identity} starts`);
        if (work !== undefined) await work(signal);
        else await this.clock.sleep(1e9, signal);
        this.history.push(`${identity} ends`);
      },
      onNewLeader: (leader) => this.history.push(`${identity} sees ${leader}`),
    });
    const outcome = elector.run(controller.signal);
    return { elector, outcome, connection, stop: () => controller.abort() };
  }
}

describe('an elector', () => {
  test('takes a free lease, with the record that client-go writes', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(2_000);
    expect(await fixture.record()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:02.000000Z',
      leaseTransitions: 0,
    });
    expect(a.elector.isLeading()).toBe(true);
    a.stop();
    expect(await a.outcome).toBe('stopped');
  });

  test('writes its annotations to the lease, and keeps those of others', async () => {
    const fixture = await ElectionFixture.start();
    await fixture.leases.create({ metadata: { ...lease, annotations: { owner: 'ada', version: '1' } } });
    const a = fixture.candidate('a', undefined, { version: '2' });
    await fixture.clock.advance(5_000);
    expect((await fixture.leases.get(lease)).metadata?.annotations).toEqual({ owner: 'ada', version: '2' });
    a.stop();
    expect(await a.outcome).toBe('stopped');
  });

  test('releases the lease when it is stopped, and the other takes over without waiting for it to expire', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(0);
    const b = fixture.candidate('b');
    await fixture.clock.advance(60_000);
    expect(fixture.history).toEqual(['a sees a', 'a starts', 'b sees a']);
    a.stop();
    expect(await a.outcome).toBe('stopped');
    expect(await fixture.record()).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
    });
    await fixture.clock.advance(4_400);
    expect(fixture.history.slice(3)).toEqual(['a ends', 'b sees b', 'b starts']);
    expect(await fixture.record()).toMatchObject({
      holderIdentity: 'b',
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
    });
    b.stop();
    await b.outcome;
  });

  test('stops leading within the renew deadline when it cannot renew, before the other starts', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(0);
    const b = fixture.candidate('b');
    await fixture.clock.advance(61_000);
    a.connection.addHooks({
      before: failWith(failure(503, 'ServiceUnavailable', 'the network is unreachable')),
    });
    await fixture.clock.advance(9_000);
    expect(a.elector.isLeading()).toBe(false);
    expect(await a.outcome).toBe('lost');
    expect(b.elector.isLeading()).toBe(false);
    await fixture.clock.advance(15_000);
    expect(fixture.history.slice(3)).toEqual(['a ends', 'b sees b', 'b starts']);
    expect(await fixture.record()).toMatchObject({ leaseTransitions: 1 });
    b.stop();
    await b.outcome;
  });

  test('uses its own clock: wall clocks that differ or jump change nothing', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(0);
    const b = fixture.candidate('b');
    for (const shiftMs of [3_600_000, -7_200_000, 86_400_000]) {
      fixture.clock.shiftWall(shiftMs);
      await fixture.clock.advance(30_000);
    }
    expect(fixture.history).toEqual(['a sees a', 'a starts', 'b sees a']);
    a.stop();
    b.stop();
    await Promise.all([a.outcome, b.outcome]);
  });

  test('aborts a hanging request at the deadline', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(10_500);
    a.connection.addHooks({ before: hang() });
    await fixture.clock.advance(10_000);
    expect(await a.outcome).toBe('lost');
    expect(fixture.history).toEqual(['a sees a', 'a starts', 'a ends']);
  });

  test('keeps the lease, and the changes of others, when another client writes to it', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(0);
    await fixture.leases.patch(lease, { type: 'merge', body: { metadata: { labels: { tier: 'one' } } } });
    await fixture.clock.advance(2_000);
    expect((await fixture.record())?.renewTime).toBe('2026-01-01T00:00:02.000000Z');
    expect((await fixture.leases.get(lease)).metadata?.labels).toEqual({ tier: 'one' });
    expect(a.elector.isLeading()).toBe(true);
    a.stop();
    await a.outcome;
  });

  test('loses leadership when another process takes the lease by force', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a');
    await fixture.clock.advance(0);
    await fixture.leases.patch(lease, { type: 'merge', body: { spec: { holderIdentity: 'usurper' } } });
    await fixture.clock.advance(2_000);
    expect(await a.outcome).toBe('lost');
    expect((await fixture.record())?.holderIdentity).toBe('usurper');
  });

  test('lets the lease expire when its work does not end, and reports that in time', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a', () => new Promise(() => {}));
    await fixture.clock.advance(3_000);
    a.stop();
    await fixture.clock.advance(15_000);
    expect(await a.outcome).toBe('stopped');
    expect((await fixture.record())?.holderIdentity).toBe('a');
    expect(fixture.clock.pending).toBe(0);
  });

  test('rejects with the error of its work, after releasing the lease', async () => {
    const fixture = await ElectionFixture.start();
    const a = fixture.candidate('a', () => Promise.reject(new Error('the work broke')));
    const outcome = expect(a.outcome).rejects.toThrow('the work broke');
    await fixture.clock.advance(10_000);
    await outcome;
    expect((await fixture.record())?.holderIdentity).toBe('');
  });

  test('of many that start at once, exactly one leads at any time', async () => {
    const fixture = await ElectionFixture.start();
    const all = Array.from({ length: 8 }, (_, index) => fixture.candidate(`c${index}`));
    for (let step = 0; step < 40; step += 1) {
      await fixture.clock.advance(700);
      expect(all.filter(({ elector }) => elector.isLeading())).toHaveLength(1);
    }
    for (const { stop } of all) stop();
    await Promise.all(all.map(({ outcome }) => outcome));
    expect(fixture.clock.pending).toBe(0);
  });
});
