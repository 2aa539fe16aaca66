import { setTimeout as sleep } from 'node:timers/promises';
import { isReason } from '../../../src/cluster/api-error.ts';
import { type Profile, upstreamProfile } from '../../../src/engine/index/profile.ts';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import { type Explained, explained } from './explained.ts';
import { OurScheduler } from './our-scheduler.ts';
import { type Asking, randomCase } from './random-case.ts';
import type { Answer, RealScheduler } from './real-scheduler.ts';
import type { Tally } from './tally.ts';
import type { Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** What kube-scheduler hears of new objects by several watches; usually it has heard all by then. */
const settleMs = 100;
/** Where answers differ, it may not have heard yet; so it is asked again. */
const asksMax = 3;
const patienceMs = 400;

/** One random cluster: each of its pods is shown to both schedulers. */
export async function tryCluster(
  seed: number,
  world: World,
  real: RealScheduler,
  tally: Tally,
): Promise<void> {
  const { objects, pods } = randomCase(seed);
  const trial = new Trial(await world.create(objects), real, tally);
  await sleep(settleMs);
  for (const [at, pod] of pods.entries()) await trial.show(pod, `seed ${seed}, pod ${at}`);
  await world.clear();
  tally.add('clusters');
}

class Trial {
  readonly #objects: ClusterObjects;
  readonly #real: RealScheduler;
  readonly #tally: Tally;
  readonly #ours = new Map<string, OurScheduler>();
  readonly #nowMs = Date.now();

  constructor(objects: ClusterObjects, real: RealScheduler, tally: Tally) {
    this.#objects = objects;
    this.#real = real;
    this.#tally = tally;
  }

  async show(pod: Asking, title: string): Promise<void> {
    try {
      const { verdict, outcome } = await this.#compare(pod);
      this.#tally.heard(verdict);
      if (outcome.kind === 'known') this.#tally.differs(outcome.switches);
      if (outcome.kind === 'unknown') this.#tally.problems.push(`${title}:\n${outcome.problem}`);
    } catch (error) {
      if (!isReason(error, 'Invalid', 'BadRequest')) throw error;
      this.#tally.add('invalid');
    }
  }

  async #compare(pod: Asking): Promise<{ readonly verdict: Verdict; readonly outcome: Explained }> {
    for (let asked = 1; ; asked++) {
      const answer = await this.#real.ask(pod);
      const outcome = this.#outcomeOf(answer);
      if (outcome.kind !== 'unknown' || asked === asksMax) return { verdict: answer.verdict, outcome };
      this.#tally.add('askedAgain');
      await sleep(patienceMs);
    }
  }

  #outcomeOf({ verdict, ...asked }: Answer): Explained {
    const same = this.#ask(upstreamProfile, asked);
    const real = `  kube-scheduler ${shown(verdict)}\n`;
    if (shown(same) !== shown(verdict))
      return { kind: 'unknown', problem: `${real}  upstream       ${shown(same)}` };
    const outcome = explained(verdict, (profile) => this.#ask(profile, asked));
    if (outcome.kind !== 'unknown') return outcome;
    return { kind: 'unknown', problem: `${real}  stowage        ${outcome.problem}` };
  }

  #ask(profile: Profile, { pod, claims }: Omit<Answer, 'verdict'>): Verdict {
    const key = JSON.stringify(profile);
    const ours = this.#ours.get(key) ?? new OurScheduler(this.#objects, profile, this.#nowMs);
    this.#ours.set(key, ours);
    return ours.ask(pod, claims);
  }
}

function shown(verdict: Verdict): string {
  if (verdict.kind === 'fits') return `fits on [${verdict.nodes}]`;
  return `${verdict.message}${verdict.makesRoom ? ' (makes room)' : ''}`;
}
