import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import {
  arbScarceObjects,
  arbSetupStep,
  arbStep,
  PendingPodsFixture,
  type RecordedAnswer,
} from '../testing/pending-pods-fixture.ts';

const runs = 250;
const happeningsMax = 50;
const pastMax = 8;

const profiles: readonly { readonly name: string; readonly profile: Profile }[] = [
  { name: 'stowage', profile: stowageProfile },
  { name: 'upstream', profile: upstreamProfile },
  {
    name: 'stowage, with drivers of other habits',
    profile: { ...stowageProfile, inFlightOf: { d1: 'one-at-a-time', d2: 'off' } },
  },
];

/** How often there was something to check, below which the clusters have become too dull to prove anything. */
const helpedMin = 60;
const movedMin = 200;

describe.each(profiles)('under profile $name', ({ profile }) => {
  test('whatever makes a pod fit wakes it, and whatever changes an answer makes it stale', () => {
    const judge = new Judge();
    fc.assert(
      fc.property(
        arbScarceObjects,
        fc.array(arbSetupStep, { maxLength: pastMax, size: 'max' }),
        fc.array(arbStep, { maxLength: happeningsMax, size: 'max' }),
        (objects, past, happenings) => {
          const room = new PendingPodsFixture(objects, profile);
          for (const step of past) room.apply(step);
          const before = room.planAll().answers;
          // Each by itself, from the same state: after a few of them nothing would be left to wait for.
          for (const happening of happenings) {
            const { answers, changes } = room.tryAndRollBack(happening);
            for (const [pod, now] of answers) {
              const known = before.get(pod);
              if (known === undefined) continue;
              judge.expectWoken(pod, known, now, changes);
              judge.expectStale(pod, known, now, changes);
            }
          }
        },
      ),
      { numRuns: runs },
    );
    judge.expectEnough();
  });

  test('a refusal and an answer stay as good as new until they are told otherwise, whatever happens meanwhile', () => {
    const judge = new Judge();
    fc.assert(
      fc.property(
        arbScarceObjects,
        fc.array(fc.oneof({ weight: 6, arbitrary: arbStep }, { weight: 1, arbitrary: arbSetupStep }), {
          maxLength: happeningsMax,
          size: 'max',
        }),
        (objects, steps) => {
          const room = new PendingPodsFixture(objects, profile);
          const waiting = new Map(room.planAll().answers);
          const remembered = new Map(waiting);
          for (const step of steps) {
            const { answers, changes } = room.applyAndPlan(step);
            for (const [pod, now] of answers) {
              const [refused, known] = [waiting.get(pod), remembered.get(pod)];
              // Who reserves something knows what it takes from others; nobody is told.
              const isTold = step.type !== 'reserve';
              if (isTold && refused !== undefined) judge.expectWoken(pod, refused, now, changes);
              if (isTold && known !== undefined) judge.expectStale(pod, known, now, changes);
              if (!(refused !== undefined && waits(refused, now, changes))) waiting.set(pod, now);
              if (!isTold || known === undefined || isStale(known, changes)) remembered.set(pod, now);
            }
            for (const pod of waiting.keys()) {
              if (answers.has(pod)) continue;
              waiting.delete(pod);
              remembered.delete(pod);
            }
          }
        },
      ),
      { numRuns: runs },
    );
    judge.expectEnough();
  });
});

/** Expects that what happened was told, and counts how often there was something to tell. */
class Judge {
  #helped = 0;
  #moved = 0;

  /** If the pod fits now. */
  expectWoken(
    pod: string,
    before: RecordedAnswer,
    now: RecordedAnswer,
    changes: readonly ClusterChange[],
  ): void {
    if (before.answer.kind === 'placement' || now.answer.kind === 'refusal') return;
    this.#helped += 1;
    if (wakes(before, changes)) return;
    expect.fail(
      `${pod}: ${before.answer.message} Now it fits: ${textOf(now)}. Nothing woke it: ${kindsOf(changes)}`,
    );
  }

  /** If the answer is another now. */
  expectStale(
    pod: string,
    before: RecordedAnswer,
    now: RecordedAnswer,
    changes: readonly ClusterChange[],
  ): void {
    if (textOf(before) === textOf(now)) return;
    this.#moved += 1;
    if (isStale(before, changes)) return;
    expect.fail(
      `${pod}: was ${textOf(before)}, is ${textOf(now)}. Nothing made it stale: ${kindsOf(changes)}`,
    );
  }

  expectEnough(): void {
    expect(this.#helped).toBeGreaterThan(helpedMin);
    expect(this.#moved).toBeGreaterThan(movedMin);
  }
}

/** It was refused, still is, and has heard nothing that could help. */
function waits(before: RecordedAnswer, now: RecordedAnswer, changes: readonly ClusterChange[]): boolean {
  return before.answer.kind === 'refusal' && now.answer.kind === 'refusal' && !wakes(before, changes);
}

function wakes({ answer }: RecordedAnswer, changes: readonly ClusterChange[]): boolean {
  return answer.kind === 'refusal' && changes.some((change) => answer.wokenBy(change));
}

function isStale({ interest, index }: RecordedAnswer, changes: readonly ClusterChange[]): boolean {
  return changes.some((change) => volumeRules.some((rule) => rule.invalidates(interest, change, index)));
}

/** The node and the volumes; a refusal is a refusal. */
function textOf({ answer }: RecordedAnswer): string {
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
