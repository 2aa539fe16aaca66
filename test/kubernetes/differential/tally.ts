import type { Switch } from './differences.ts';
import type { Verdict } from './verdict.ts';

/** The statistics of a run. */
export class Tally {
  readonly problems: string[] = [];
  readonly #counts = {
    clusters: 0,
    verdicts: 0,
    fits: 0,
    refused: 0,
    makesRoom: 0,
    invalid: 0,
    askedAgain: 0,
  };
  /** Differences of profile `stowage`, by the switches that explain them. */
  readonly #differences = new Map<string, number>();

  heard(verdict: Verdict): void {
    this.#counts.verdicts += 1;
    this.#counts[verdict.kind] += 1;
    if (verdict.kind === 'refused' && verdict.makesRoomOn !== '') this.#counts.makesRoom += 1;
  }

  differs(switches: readonly Switch[]): void {
    const key = switches.join(' and ');
    this.#differences.set(key, (this.#differences.get(key) ?? 0) + 1);
  }

  /** `invalid`: the server rejected the pod. */
  add(what: 'clusters' | 'invalid' | 'askedAgain'): void {
    this.#counts[what] += 1;
  }

  get counts(): Readonly<Record<'clusters' | 'verdicts' | 'fits' | 'refused' | 'makesRoom', number>> {
    return this.#counts;
  }

  get summary(): string {
    const { clusters, verdicts, fits, makesRoom, invalid, askedAgain } = this.#counts;
    const known = [...this.#differences].map(([switches, count]) => `${count} by ${switches}`);
    return (
      `${verdicts} verdicts on ${clusters} clusters: ${fits} fit, ${makesRoom} would evict; ` +
      `${invalid} pods not taken, ${askedAgain} asked again; profile stowage differs ${known.join(', ') || 'nowhere'}`
    );
  }
}
