import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Supervisor } from '../../src/runtime/supervisor.ts';
import { isRetry } from './testing/is-retry.ts';
import {
  type KnownEndStateDifference,
  knownEndStateDifferences,
  unexpectedLines,
} from './testing/known-differences.ts';
import { runOurControllers } from './testing/our-controllers.ts';
import { differencesOf } from './testing/outcome-differences.ts';
import { type ScenarioOutcome, ScenarioRunner, type UserScenario } from './testing/scenario-runner.ts';
import { setUpCluster } from './testing/scenario-setup.ts';
import { budgetUserScenarios } from './testing/scenarios/budget-scenarios.ts';
import { deletionUserScenarios } from './testing/scenarios/deletion-scenarios.ts';
import { deploymentScenarios } from './testing/scenarios/deployment-scenarios.ts';
import { statefulSetScenarios } from './testing/scenarios/stateful-set-scenarios.ts';
import { volumeScenarios } from './testing/scenarios/volume-scenarios.ts';
import { lacks, serverPrograms, sharedTestBed, startTestBed } from './vitest-beds.ts';

const scenarios = [
  ...statefulSetScenarios,
  ...deploymentScenarios,
  ...budgetUserScenarios,
  ...deletionUserScenarios,
  ...volumeScenarios,
];

/** Our server does not enforce pod security levels. */
const ownScenarios = scenarios.filter(({ needsPodSecurity }) => needsPodSecurity !== true);

const theirControllers = [
  'statefulset-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-expander-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'ephemeral-volume-controller',
];

const ourControllers = [
  'statefulset',
  'deployment',
  'disruption',
  'garbage-collector',
  'namespace',
  'pv-binder',
  'expander',
  'protection',
  'ephemeral',
];

const common = { scheduler: true, kwok: true } as const;
// The default rate limit would dominate the test time.
const extraFlags = { 'kube-api-qps': 1000, 'kube-api-burst': 1000 };
const bedOptions = {
  real: { ...common, controllerManager: { controllers: theirControllers, extraFlags } },
  same: common,
  own: { ...common, server: 'stowage', stowageControllers: ourControllers.join(',') },
} as const;

/** The server on which our controllers run. */
type Where = 'same' | 'own';

/**
 * Runs the same user actions with kube-controller-manager on the real server, and with our controllers, once on the real server and once on
 * ours. Scheduler and nodes are the real ones everywhere, so that only the controllers differ, or the controllers and the server.
 */
describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'our controllers leave the same state as kube-controller-manager',
  () => {
    const beds = {
      real: sharedTestBed(bedOptions.real),
      same: sharedTestBed(bedOptions.same),
      own: sharedTestBed(bedOptions.own),
    };
    const ended = new AbortController();
    const runs = { real: new ScenarioRuns(), same: new ScenarioRuns(), own: new ScenarioRuns() };
    const matched = new Set<KnownEndStateDifference>();
    let ours: Supervisor | undefined;

    beforeAll(async () => {
      ours = runOurControllers(await beds.same().connect(), ourControllers);
      await Promise.all(
        (['real', 'same', 'own'] as const).map(async (name) => {
          const runner = new ScenarioRunner(await setUpCluster(beds[name](), ended.signal));
          runs[name].begin(runner, name === 'own' ? ownScenarios : scenarios);
        }),
      );
    });

    afterAll(async () => {
      ended.abort();
      await ours?.close();
    });

    /** The outcome of a scenario is kept. A retried test runs the scenario again, on new test beds. */
    async function outcomes(
      scenario: UserScenario,
      where: Where,
      isAgain: boolean,
    ): Promise<readonly ScenarioOutcome[]> {
      const both = ['real', where] as const;
      return await Promise.all(
        both.map((name) => (isAgain ? runAgain(scenario, name) : runs[name].of(scenario.name))),
      );
    }

    test.for(scenarios)('on the real server: $name', { timeout: 900_000 }, async (scenario, { task }) => {
      const [real = {}, our = {}] = await outcomes(scenario, 'same', isRetry(task));
      expect(Object.keys(real)).toEqual(Object.keys(scenario.actions));
      expect(unexpectedLines(scenario.name, differencesOf(real, our), matched)).toEqual([]);
    });

    test.for(ownScenarios)('on our server: $name', { timeout: 900_000 }, async (scenario, { task }) => {
      const [real = {}, our = {}] = await outcomes(scenario, 'own', isRetry(task));
      expect(unexpectedLines(scenario.name, differencesOf(real, our), matched)).toEqual([]);
    });

    test('every known difference occurred', () => {
      expect(
        knownEndStateDifferences.filter((each) => each.isByChance !== true && !matched.has(each)),
      ).toEqual([]);
    });
  },
);

async function runAgain(scenario: UserScenario, where: 'real' | Where): Promise<ScenarioOutcome> {
  const bed = await startTestBed(bedOptions[where]);
  const ended = new AbortController();
  const ours = where === 'same' ? runOurControllers(await bed.connect(), ourControllers) : undefined;
  try {
    return await new ScenarioRunner(await setUpCluster(bed, ended.signal)).run(scenario);
  } finally {
    ended.abort();
    await ours?.close();
  }
}

/** Runs the scenarios of one cluster in parallel. */
class ScenarioRuns {
  readonly #outcomes = new Map<string, Promise<ScenarioOutcome>>();

  begin(runner: ScenarioRunner, started: readonly UserScenario[]): void {
    const outcomes = started.map((scenario) => runner.run(scenario));
    const allOver = Promise.allSettled(outcomes);
    for (const [at, { name }] of started.entries()) {
      const outcome = allOver.then(async () => await runner.withLateEvents(name, (await outcomes[at]) ?? {}));
      outcome.catch(() => {}); // The test reports the error.
      this.#outcomes.set(name, outcome);
    }
  }

  async of(name: string): Promise<ScenarioOutcome> {
    const outcome = this.#outcomes.get(name);
    if (outcome === undefined) throw new Error(`${name} was not started`);
    return await outcome;
  }
}
