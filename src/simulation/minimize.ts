import type { Violation } from './invariants/invariant.ts';
import type { Scenario, TimedAction } from './scenario.ts';
import { simulate } from './simulation.ts';

export interface MinimizeOptions {
  /** Runs a scenario. A run that throws counts as one that does not break the invariant. */
  readonly run?: (scenario: Scenario) => Promise<{ readonly violations: readonly Violation[] }>;
  /** The search ends after so many runs, with the smallest scenario so far. */
  readonly runsMax?: number;
  /** Called after every run. */
  readonly onProgress?: (progress: MinimizeProgress) => void;
}

export interface MinimizeProgress {
  readonly runs: number;
  /** Actions of the smallest scenario so far. */
  readonly actions: number;
}

export interface MinimizedScenario {
  readonly scenario: Scenario;
  /** How the invariant is broken in it. */
  readonly violation: Violation;
  readonly runs: number;
}

const runsMaxDefault = 300;

/**
 * The smallest scenario found that still breaks the invariant of `violation`: fewer actions, then one replica of each process, then no
 * latency. Actions are removed in halves, then in smaller and smaller parts, at last one by one (delta debugging). Another invariant
 * that breaks in a smaller scenario is another bug, so it does not count.
 */
export async function minimize(
  failing: Scenario,
  violation: Violation,
  options: MinimizeOptions = {},
): Promise<MinimizedScenario> {
  const search = new Search(failing, violation, options);
  await removeActions(search);
  for (const name of failing.replicated)
    await search.attempt((scenario) => ({
      ...scenario,
      replicated: scenario.replicated.filter((other) => other !== name),
    }));
  if (failing.latencyMaxMs > 0) await search.attempt((scenario) => ({ ...scenario, latencyMaxMs: 0 }));
  // Without replicas and latency, actions may have become superfluous.
  if (failing.replicated.length > 0 || failing.latencyMaxMs > 0) await removeActions(search);
  return search.result;
}

/** The smallest failing scenario so far, and the budget of runs. */
class Search {
  readonly #options: MinimizeOptions;
  #scenario: Scenario;
  #violation: Violation;
  #runs = 0;

  constructor(failing: Scenario, violation: Violation, options: MinimizeOptions) {
    this.#options = options;
    this.#scenario = failing;
    this.#violation = violation;
  }

  get result(): MinimizedScenario {
    return { scenario: this.#scenario, violation: this.#violation, runs: this.#runs };
  }

  get actions(): readonly TimedAction[] {
    return this.#scenario.actions;
  }

  get isExhausted(): boolean {
    return this.#runs >= (this.#options.runsMax ?? runsMaxDefault);
  }

  /** Runs a smaller scenario, and keeps it if it breaks the same invariant. False if it doesn't, or if no run is left. */
  async attempt(smaller: (scenario: Scenario) => Scenario): Promise<boolean> {
    if (this.isExhausted) return false;
    const candidate = smaller(this.#scenario);
    const found = await this.#violationOf(candidate);
    this.#runs += 1;
    if (found !== undefined) {
      this.#scenario = candidate;
      this.#violation = found;
    }
    this.#options.onProgress?.({ runs: this.#runs, actions: this.#scenario.actions.length });
    return found !== undefined;
  }

  async #violationOf(scenario: Scenario): Promise<Violation | undefined> {
    const { run = simulate } = this.#options;
    try {
      const { violations } = await run(scenario);
      return violations.find(({ invariant }) => invariant === this.#violation.invariant);
    } catch {
      // A scenario that can't be run says nothing about the invariant.
      return undefined;
    }
  }
}

/** Ends when no single action can be removed. */
async function removeActions(search: Search): Promise<void> {
  for (let size = Math.ceil(search.actions.length / 2); size > 1; size = Math.ceil(size / 2))
    await removeParts(search, size);
  while (await removeParts(search, 1));
}

/** Tries each part of `size` actions once, from the end: late actions matter least. */
async function removeParts(search: Search, size: number): Promise<boolean> {
  let hasRemoved = false;
  for (let end = search.actions.length; end > 0; end -= size) {
    const start = Math.max(0, end - size);
    const isRemoved = await search.attempt((scenario) => ({
      ...scenario,
      actions: scenario.actions.toSpliced(start, end - start),
    }));
    hasRemoved ||= isRemoved;
  }
  return hasRemoved;
}
