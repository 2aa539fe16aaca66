import type { ProfileSwitch } from './differences.ts';
import type { Verdict } from './verdict.ts';

/** The statistics of a run. */
export class Tally {
  readonly problems: string[] = [];
  readonly #counts = {
    clusters: 0,
    verdicts: 0,
    fits: 0,
    refused: 0,
    preempts: 0,
    invalid: 0,
    askedAgain: 0,
  };
  /** Differences of profile `stowage`, by the switches that explain them. */
  readonly #differences = new Map<string, number>();

  countVerdict(verdict: Verdict): void {
    this.#counts.verdicts += 1;
    this.#counts[verdict.kind] += 1;
    if (verdict.kind === 'refused' && verdict.preemptsOn !== '') this.#counts.preempts += 1;
  }

  differs(switches: readonly ProfileSwitch[]): void {
    const key = switches.join(' and ');
    this.#differences.set(key, (this.#differences.get(key) ?? 0) + 1);
  }

  /** `invalid`: the server rejected the pod. */
  add(what: 'clusters' | 'invalid' | 'askedAgain'): void {
    this.#counts[what] += 1;
  }

  get counts(): Readonly<Record<'clusters' | 'verdicts' | 'fits' | 'refused' | 'preempts', number>> {
    return this.#counts;
  }

  get summary(): string {
    const { clusters, verdicts, fits, preempts, invalid, askedAgain } = this.#counts;
    const known = [...this.#differences].map(([switches, count]) => `${count} by ${switches}`);
    return (
      `${verdicts} verdicts on ${clusters} clusters: ${fits} fit, ${preempts} would evict; ` +
      `${invalid} pods rejected, ${askedAgain} repeated; profile stowage differs ${known.join(', ') || 'nowhere'}`
    );
  }
}
