import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueuedPod, SchedulingAttempt } from './queued-pod.ts';
import { QueueModel } from './testing/queue-model.ts';
import { changeOf, podOf, QueueRun, waitingFor } from './testing/queue-run.ts';

/** Longer than any back-off and, summed over all steps of a run, still too short for a sweep. */
const backOffsMs = 12_000;

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const change = fc.constantFrom('x', 'y', 'z');
const pod = fc
  .record({
    name,
    uid: fc.constantFrom('1', '2'),
    priority: fc.integer({ min: 0, max: 2 }),
    isGated: fc.boolean(),
  })
  .map(({ name, isGated, ...given }) => podOf(name, { ...given, isGated: isGated && given.priority === 0 }));
/** Which of the attempts so far: mostly the last ones, but also stale ones. */
const receipt = fc.nat({ max: 6 });

const step = fc.oneof(
  fc.record({ kind: fc.constant('put'), pod, mayHelp: fc.boolean() }),
  fc.record({ kind: fc.constant('remove'), name }),
  fc.record({ kind: fc.constant('take') }),
  fc.record({ kind: fc.constant('refused'), receipt, change }),
  fc.record({ kind: fc.constant('failed'), receipt }),
  fc.record({ kind: fc.constant('done'), receipt }),
  fc.record({ kind: fc.constant('requeue'), receipt, why: fc.constantFrom('refusal', 'error') }),
  fc.record({ kind: fc.constant('changed'), change }),
  fc.record({ kind: fc.constant('advance'), ms: fc.integer({ min: 1, max: 3000 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A queue and its model, which get the same calls. */
class Pair {
  readonly run = new QueueRun();
  readonly model = new QueueModel();
  readonly #receipts: SchedulingAttempt[] = [];

  async play(step: Step): Promise<void> {
    const { queue, clock } = this.run;
    if (step.kind === 'put') this.#put(step.pod, step.mayHelp);
    else if (step.kind === 'remove') this.#remove(podOf(step.name).key);
    else if (step.kind === 'take') await this.#take();
    else if (step.kind === 'advance') await clock.advance(step.ms);
    else if (step.kind === 'changed') {
      queue.observe(changeOf(step.change));
      this.model.changed(step.change);
    } else this.#end(step);
  }

  async takeAlways(signal: AbortSignal): Promise<void> {
    for (;;) {
      const taken = await this.run.queue.take(signal);
      if (taken === undefined) return;
      this.#took(taken);
    }
  }

  /** Each pod is in the state that the model has; a queued pod may be active or backing off. */
  compare(): void {
    const { active, backoff, unschedulable, gated, inFlight, decided } = this.run.queue.counts;
    const states = ['queued', 'waiting', 'gated', 'inFlight', 'decided'] as const;
    const expected = states.map((state) => this.model.all(state).length);
    expect([active + backoff, unschedulable, gated, inFlight, decided]).toEqual(expected);
  }

  #put(given: QueuedPod, mayHelp: boolean): void {
    this.run.queue.addOrUpdate(given, { mayHelp });
    this.model.put(given, mayHelp);
  }

  #remove(key: string): void {
    this.run.queue.remove(key);
    this.model.remove(key);
  }

  async #take(): Promise<void> {
    const taken = await this.run.takeNow();
    if (taken !== undefined) this.#took(taken);
  }

  #took(taken: SchedulingAttempt): void {
    this.model.took(taken);
    this.#receipts.unshift(taken);
  }

  #end(step: Extract<Step, { readonly receipt: number }>): void {
    const { queue } = this.run;
    const taken = this.#receipts[step.receipt];
    if (taken === undefined) return;
    if (step.kind === 'refused') {
      queue.refused(taken, waitingFor(step.change));
      this.model.refused(taken, step.change);
    } else if (step.kind === 'done') {
      queue.done(taken);
      this.model.done(taken);
    } else {
      if (step.kind === 'failed') queue.failed(taken);
      else queue.requeue(taken, step.why);
      this.model.failed(taken);
    }
  }
}

test('no pod is ever lost: each is in its state, and pods that were woken are taken by priority', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const pair = new Pair();
      for (const each of steps) {
        await pair.play(each);
        pair.compare();
      }
      await pair.run.clock.advance(backOffsMs);
      const taken = await pair.run.takeAll();
      expect(taken.map(({ pod: { key, uid } }) => `${key} ${uid}`).sort()).toEqual(pair.model.all('queued'));
      const priorities = taken.map(({ pod }) => pod.priority);
      expect(priorities).toEqual(priorities.toSorted((a, b) => b - a));
    }),
    { numRuns: 1000 },
  );
});

test('a scheduler that always waits gets pods that can be taken at once, and failed pods after their back-off', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const pair = new Pair();
      const stop = new AbortController();
      const taking = pair.takeAlways(stop.signal);
      for (const each of steps) {
        if (each.kind !== 'take') await pair.play(each);
        await pair.run.clock.advance(0);
        pair.compare();
        expect(pair.run.queue.counts.active).toBe(0);
      }
      await pair.run.clock.advance(backOffsMs);
      expect(pair.model.all('queued')).toEqual([]);
      stop.abort();
      await taking;
      expect(pair.run.clock.pending).toBe(0);
    }),
    { numRuns: 500 },
  );
});
