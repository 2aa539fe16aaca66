import { setTimeout as sleep } from 'node:timers/promises';
import { type Profile, upstreamProfile } from '../../../src/engine/cluster-index/profile.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import { comparesMessages } from './differences.ts';
import { type DifferenceExplanation, explainDifference } from './explain-difference.ts';
import { type ClusterView, OurScheduler, type StoredPod } from './our-scheduler.ts';
import { type PodCase, randomCase } from './random-case.ts';
import type { RealCluster } from './real-cluster.ts';
import type { RealScheduler, RealVerdict } from './real-scheduler.ts';
import type { Tally } from './tally.ts';
import type { Verdict } from './verdict.ts';

/** kube-scheduler observes new objects through several watches; usually it has received all of them after this time. */
const settleMs = 100;
/** If the verdicts differ, kube-scheduler may not have observed all objects yet, so the question is repeated. */
const attemptsMax = 7;
/** Twice as long each time: less than a minute in all. */
const retryPauseMs = 400;
/** The number of problems from which on the difference is not one of time. */
const problemsMany = 3;
/** Then it is repeated less often, so that the test ends. */
const attemptsThen = 2;

/** Creates one random cluster and compares the verdicts of both schedulers on each of its pods. */
export async function compareOnCluster(
  seed: number,
  cluster: RealCluster,
  real: RealScheduler,
  tally: Tally,
): Promise<void> {
  const { pods, ...drawn } = randomCase(seed);
  const comparison = new Comparison(await cluster.create(drawn), real, tally);
  await sleep(settleMs);
  for (const [at, pod] of pods.entries()) await comparison.show(pod, `seed ${seed}, pod ${at}`);
  await cluster.clear();
  tally.add('clusters');
}

class Comparison {
  readonly #seen: ClusterView;
  readonly #real: RealScheduler;
  readonly #tally: Tally;
  readonly #ours = new Map<string, OurScheduler>();
  readonly #nowMs = Date.now();

  constructor(seen: ClusterView, real: RealScheduler, tally: Tally) {
    this.#seen = seen;
    this.#real = real;
    this.#tally = tally;
  }

  async show(pod: PodCase, title: string): Promise<void> {
    try {
      const { verdict, outcome } = await this.#compare(pod);
      this.#tally.countVerdict(verdict);
      if (outcome.kind === 'known') this.#tally.differs(outcome.switches);
      if (outcome.kind === 'unknown') this.#tally.problems.push(`${title}:\n${outcome.problem}`);
    } catch (error) {
      if (!isReason(error, 'Invalid', 'BadRequest', 'Forbidden')) throw error;
      this.#tally.add('invalid');
    }
  }

  async #compare(
    pod: PodCase,
  ): Promise<{ readonly verdict: Verdict; readonly outcome: DifferenceExplanation }> {
    for (let asked = 1; ; asked++) {
      const answer = await this.#real.ask(pod);
      const outcome = this.#outcomeOf(answer);
      const attempts = this.#tally.problems.length < problemsMany ? attemptsMax : attemptsThen;
      if (outcome.kind !== 'unknown' || asked >= attempts) return { verdict: answer.verdict, outcome };
      this.#tally.add('askedAgain');
      await sleep(retryPauseMs * 2 ** (asked - 1));
    }
  }

  #outcomeOf({ verdict, ...asked }: RealVerdict): DifferenceExplanation {
    const same = this.#with(upstreamProfile).ask(asked);
    const real = `  kube-scheduler ${shown(verdict)}\n`;
    if (this.#compared(same) !== this.#compared(verdict) || !this.#isSamePreemption(asked, verdict, same))
      return {
        kind: 'unknown',
        problem: `${real}  upstream       ${shown(same)}${preemptionText(verdict, same)}`,
      };
    const outcome = explainDifference(verdict, (profile) => this.#with(profile).ask(asked));
    if (outcome.kind !== 'unknown') return outcome;
    return { kind: 'unknown', problem: `${real}  stowage        ${outcome.problem}` };
  }

  #compared(verdict: Verdict): string {
    if (verdict.kind === 'fits' || comparesMessages(this.#seen.objects.Pod ?? [])) return shown(verdict);
    return shown({ ...verdict, message: 'refused' });
  }

  /** If preemption on several nodes is equally good, either node is correct. */
  #isSamePreemption(asked: StoredPod, real: Verdict, ours: Verdict): boolean {
    if (real.kind === 'fits' || ours.kind === 'fits' || ours.preemptsOn === '') return true;
    return this.#with(upstreamProfile).isNoWorse(asked, real.preemptsOn, ours.preemptsOn);
  }

  #with(profile: Profile): OurScheduler {
    const key = JSON.stringify(profile);
    const ours = this.#ours.get(key) ?? new OurScheduler(this.#seen, profile, this.#nowMs);
    this.#ours.set(key, ours);
    return ours;
  }
}

function shown(verdict: Verdict): string {
  if (verdict.kind === 'fits') return `fits on [${verdict.nodes}]`;
  return `${verdict.message}${verdict.preemptsOn === '' ? '' : ' (preempts)'}`;
}

function preemptionText(real: Verdict, ours: Verdict): string {
  if (real.kind === 'fits' || ours.kind === 'fits' || real.preemptsOn === ours.preemptsOn) return '';
  return ` on ${ours.preemptsOn || 'none'}, not on ${real.preemptsOn || 'none'}`;
}
