import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import {
  arbScarceObjects,
  arbSetupStep,
  arbStep,
  type PendingPodAnswer,
  PendingPodsFixture,
} from '../testing/pending-pods-fixture.ts';

const runs = propertyRuns(80);
const stepsMax = 50;
const setupMax = 8;

const profiles: readonly { readonly name: string; readonly profile: Profile }[] = [
  { name: 'stowage', profile: stowageProfile },
  { name: 'upstream', profile: upstreamProfile },
  {
    name: 'stowage, with other in-flight policies',
    profile: { ...stowageProfile, inFlightOf: { d1: 'one-at-a-time', d2: 'off' } },
  },
];

/** The least number of checks. With fewer, the random clusters would prove nothing. */
const wokenMin = 30;
const changedMin = 100;

describe.each(profiles)('under profile $name', ({ profile }) => {
  test('every step that makes a pod fit wakes it, and every step that changes an answer invalidates it', () => {
    const checks = new WakeUpChecks();
    fc.assert(
      fc.property(
        arbScarceObjects,
        fc.array(arbSetupStep, { maxLength: setupMax, size: 'max' }),
        fc.array(arbStep, { maxLength: stepsMax, size: 'max' }),
        (objects, setup, steps) => {
          const fixture = new PendingPodsFixture(objects, profile);
          for (const step of setup) fixture.apply(step);
          const before = fixture.planAll().answers;
          // Each step from the same state: after a few steps in sequence no pod would be pending.
          for (const step of steps) {
            const { answers, changes } = fixture.tryAndRollBack(step);
            for (const [pod, now] of answers) {
              const known = before.get(pod);
              if (known === undefined) continue;
              checks.expectWoken(pod, known, now, changes);
              checks.expectStale(pod, known, now, changes);
            }
          }
        },
      ),
      { numRuns: runs },
    );
    checks.expectEnough();
  });

  test('refusals and cached answers stay correct until a change wakes or invalidates them, after any sequence of steps', () => {
    const checks = new WakeUpChecks();
    fc.assert(
      fc.property(
        arbScarceObjects,
        fc.array(fc.oneof({ weight: 6, arbitrary: arbStep }, { weight: 1, arbitrary: arbSetupStep }), {
          maxLength: stepsMax,
          size: 'max',
        }),
        (objects, steps) => {
          const fixture = new PendingPodsFixture(objects, profile);
          const waiting = new Map(fixture.planAll().answers);
          const recorded = new Map(waiting);
          for (const step of steps) {
            const { answers, changes } = fixture.applyAndPlan(step);
            for (const [pod, now] of answers) {
              const [refused, known] = [waiting.get(pod), recorded.get(pod)];
              // A reservation is not reported as a change: the scheduler that makes it knows its effects.
              const isReported = step.type !== 'reserve';
              if (isReported && refused !== undefined) checks.expectWoken(pod, refused, now, changes);
              if (isReported && known !== undefined) checks.expectStale(pod, known, now, changes);
              if (!(refused !== undefined && waits(refused, now, changes))) waiting.set(pod, now);
              if (!isReported || known === undefined || isStale(known, changes)) recorded.set(pod, now);
            }
            for (const pod of waiting.keys()) {
              if (answers.has(pod)) continue;
              waiting.delete(pod);
              recorded.delete(pod);
            }
          }
        },
      ),
      { numRuns: runs },
    );
    checks.expectEnough();
  });
});

/** Checks that changes wake pods and invalidate answers, and counts the checks. */
class WakeUpChecks {
  #woken = 0;
  #changed = 0;

  /** If the pod fits now, one of the changes must wake it. */
  expectWoken(
    pod: string,
    before: PendingPodAnswer,
    now: PendingPodAnswer,
    changes: readonly ClusterChange[],
  ): void {
    if (before.answer.kind === 'placement' || now.answer.kind === 'refusal') return;
    this.#woken += 1;
    if (wakes(before, changes)) return;
    expect.fail(
      `${pod}: ${before.answer.message} Now it fits: ${textOf(now)}. No change woke it: ${kindsOf(changes)}`,
    );
  }

  /** If the answer has changed, one of the changes must invalidate it. */
  expectStale(
    pod: string,
    before: PendingPodAnswer,
    now: PendingPodAnswer,
    changes: readonly ClusterChange[],
  ): void {
    if (textOf(before) === textOf(now)) return;
    this.#changed += 1;
    if (isStale(before, changes)) return;
    expect.fail(
      `${pod}: was ${textOf(before)}, is ${textOf(now)}. No change invalidated it: ${kindsOf(changes)}`,
    );
  }

  expectEnough(): void {
    expect(this.#woken).toBeGreaterThan(wokenMin);
    expect(this.#changed).toBeGreaterThan(changedMin);
  }
}

/** The pod was refused, still is, and no change woke it. */
function waits(before: PendingPodAnswer, now: PendingPodAnswer, changes: readonly ClusterChange[]): boolean {
  return before.answer.kind === 'refusal' && now.answer.kind === 'refusal' && !wakes(before, changes);
}

function wakes({ answer }: PendingPodAnswer, changes: readonly ClusterChange[]): boolean {
  return answer.kind === 'refusal' && changes.some((change) => answer.wokenBy(change));
}

function isStale({ interest, index }: PendingPodAnswer, changes: readonly ClusterChange[]): boolean {
  return changes.some((change) => volumeRules.some((rule) => rule.invalidates(interest, change, index)));
}

/** The node and the volumes of a placement. All refusals are equal. */
function textOf({ answer }: PendingPodAnswer): string {
  if (answer.kind === 'refusal') return 'refused';
  const { node, bindings, provisions, inlineVolumes } = answer;
  const volumes = [
    ...bindings.map(({ claim, volume }) => `${claim}=${volume}`),
    ...provisions.map(({ claim, pool }) => `${claim}=new in ${pool?.key}`),
    ...inlineVolumes.map(({ volume, pool }) => `${volume}=new in ${pool.key}`),
  ];
  return [node, ...volumes].join(' ');
}

function kindsOf(changes: readonly ClusterChange[]): string {
  return changes.map(({ kind }) => kind).join(', ') || 'no change';
}
