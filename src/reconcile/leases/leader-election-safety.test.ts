import { expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import { recordCalls, verbsOf } from '../../cluster/testing/fault-hooks.ts';
import { failure } from '../../kube/api-error.ts';
import { leases } from '../../kube/resources.ts';
import { FreezableClock } from '../../runtime/freezable-clock.ts';
import { type Random, seededRandom } from '../../runtime/random.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { LeaderElector } from './leader-election.ts';

const lease = { namespace: 'kube-system', name: 'stowage' };
const never = new AbortController().signal;
const unreachable = failure(503, 'ServiceUnavailable', 'the network is unreachable');

/** A candidate as a process of its own: a clock that may freeze, a connection that loses messages, and work to do. */
class Candidate {
  readonly clock: FreezableClock;
  readonly connection: InterceptedCluster;
  readonly calls: readonly ClusterCall[];
  readonly elector: LeaderElector;
  readonly startedMs: number[] = [];
  readonly workedMs: number[] = [];

  constructor(identity: string, fixture: VirtualClock, cluster: InterceptedCluster) {
    this.clock = new FreezableClock(fixture);
    this.connection = cluster;
    this.calls = recordCalls(cluster);
    this.elector = new LeaderElector({
      leases: cluster.resource(leases),
      lease,
      identity,
      clock: this.clock,
      random: seededRandom(identity),
      onStartedLeading: (signal) => this.#work(signal),
    });
  }

  /** Checks before each write whether it still leads, as the elector requires. */
  async #work(signal: AbortSignal): Promise<void> {
    this.startedMs.push(this.clock.monotonicMs());
    while (!signal.aborted) {
      if (this.elector.isLeading()) this.workedMs.push(this.clock.monotonicMs());
      await this.clock.sleep(500, signal);
    }
  }
}

async function begin() {
  const clock = new VirtualClock();
  const { cluster } = await EmbeddedFixture.start(clock);
  const candidate = (identity: string) => new Candidate(identity, clock, new InterceptedCluster(cluster));
  return { clock, candidate };
}

test.each([
  ['asleep between two renewals', 7_500, 0],
  ['during a renewal', 8_050, 100],
])('a leader that is frozen %s past its deadline starts no write', async (_, frozenAtMs, travelMs) => {
  const { clock, candidate } = await begin();
  const a = candidate('a');
  a.connection.addHooks({ after: ({ signal }) => a.clock.sleep(travelMs, signal ?? never) });
  const outcome = a.elector.run(never);
  await clock.advance(frozenAtMs);
  const b = candidate('b');
  const stopB = new AbortController();
  const outcomeOfB = b.elector.run(stopB.signal);
  a.clock.freeze();
  const [calls, worked] = [a.calls.length, a.workedMs.length];
  await clock.advance(30_000);
  expect([a.elector.isLeading(), b.elector.isLeading()]).toEqual([false, true]);
  a.clock.thaw();
  await clock.advance(30_000);
  expect(await outcome).toBe('lost');
  expect([a.calls.length, a.workedMs.length]).toEqual([calls, worked]);
  stopB.abort();
  await clock.advance(0);
  expect(await outcomeOfB).toBe('stopped');
  expect(clock.pending).toBe(0);
});

// It does start, for a moment: the elector does not check the clock again when the answer arrives.
test('a candidate that is frozen while it takes the lease does not start to lead too late', async () => {
  const { clock, candidate } = await begin();
  const a = candidate('a');
  a.connection.addHooks({ after: ({ signal }) => a.clock.sleep(100, signal ?? never) });
  const stop = new AbortController();
  const outcome = a.elector.run(stop.signal);
  await clock.advance(50);
  expect(verbsOf(a.calls)).toEqual(['get', 'create']);
  a.clock.freeze();
  await clock.advance(12_000);
  a.clock.thaw();
  await clock.advance(0);
  expect(a.startedMs).toEqual([]);
  await clock.advance(10_000);
  expect(a.startedMs).toHaveLength(1);
  stop.abort();
  await clock.advance(1_000);
  expect(await outcome).toBe('stopped');
});

/** Requests and answers are delayed, lost, or arrive long after the sender has aborted them. */
function disturb({ connection, clock: ownClock }: Candidate, clock: VirtualClock, random: Random): void {
  const travelMs = () => (random.int(10) === 0 ? random.int(12_000) : random.int(200));
  connection.addHooks({
    before: async ({ signal, send }) => {
      const outcome = random.int(12);
      if (outcome === 0) clock.after(travelMs() * 2, () => void send().catch(() => {}));
      await clock.sleep(travelMs(), signal ?? never);
      if (outcome < 2) throw unreachable;
    },
    after: async ({ signal }) => {
      await ownClock.sleep(travelMs(), signal ?? never);
      if (random.int(10) === 0) throw unreachable;
    },
  });
}

/** Freezes a process now and then, mostly for a moment, sometimes for longer than a lease lasts. */
async function freezeNowAndThen(own: FreezableClock, clock: VirtualClock, random: Random, end: AbortSignal) {
  while (!end.aborted) {
    await clock.sleep(random.int(40_000), end);
    own.freeze();
    await clock.sleep(random.int(3) === 0 ? random.int(40_000) : random.int(3_000), end);
    own.thaw();
  }
}

/** Runs one candidate after another, as a machine restarts a program that has lost the lease. */
class Machine {
  readonly candidates: Candidate[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async run(start: (identity: string) => Candidate, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const candidate = start(`${this.#name}-${this.candidates.length}`);
      this.candidates.push(candidate);
      await candidate.elector.run(signal);
    }
  }

  get leaders(): readonly Candidate[] {
    return this.candidates.filter(({ elector }) => elector.isLeading());
  }
}

test.each([1, 2, 3, 4, 5, 6])(
  'of two candidates that freeze and lose messages, never both lead (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const { clock, candidate } = await begin();
    const end = new AbortController();
    const start = (identity: string) => {
      const started = candidate(identity);
      disturb(started, clock, random.fork(`connection of ${identity}`));
      void freezeNowAndThen(started.clock, clock, random.fork(`freezes of ${identity}`), end.signal);
      return started;
    };
    const machines = [new Machine('a'), new Machine('b')];
    const running = Promise.all(machines.map((machine) => machine.run(start, end.signal)));
    while (clock.monotonicMs() < 30 * 60_000) {
      await clock.runUntilIdle(1);
      // Between two timers, no candidate starts to lead.
      expect(machines.flatMap(({ leaders }) => leaders).length).toBeLessThan(2);
    }
    // The lease must have changed hands often for this test to mean anything.
    const terms = machines.map(({ candidates }) => candidates.filter(({ workedMs }) => workedMs.length > 0));
    for (const { length } of terms) expect(length).toBeGreaterThan(3);
    end.abort();
    await clock.runUntilIdle(10_000);
    await running;
  },
);
