import { describe, expect, test } from 'vitest';
import { partsOf } from './all-parts.ts';
import type { Invariant, Violation } from './invariants/invariant.ts';
import { type MinimizeProgress, minimize } from './minimize.ts';
import type { Scenario, TimedAction } from './scenario.ts';
import { scenarioOfSeed } from './seed-scenario.ts';
import { simulate } from './simulation.ts';

const violation: Violation = { invariant: 'a volume serves one claim', detail: 'at first' };

function scenarioWith(names: readonly string[], rest: Partial<Scenario> = {}): Scenario {
  const actions = names.map((action, at): TimedAction => ({ atMs: at * 100, action, parameters: {} }));
  return { seed: '1', replicated: [], latencyMaxMs: 0, actions, ...rest };
}

function namesOf({ actions }: Scenario): readonly string[] {
  return actions.map(({ action }) => action);
}

/** A simulation in which the invariant breaks if a condition holds. */
function breaksIf(isBroken: (names: readonly string[], scenario: Scenario) => boolean) {
  return async (scenario: Scenario) => ({
    violations: isBroken(namesOf(scenario), scenario) ? [{ ...violation, detail: 'at last' }] : [],
  });
}

const letters = [...'abcdefghijklmnopqrstuvwxyz'];

describe('minimizing', () => {
  test.each([
    ['one action', ['q']],
    ['actions that are far apart', ['b', 'm', 'z']],
    ['the first and the last action', ['a', 'z']],
    ['no action', []],
  ])('keeps %s that the violation needs, in their order', async (_, needed) => {
    const run = breaksIf((names) => needed.every((name) => names.includes(name)));
    const { scenario, violation: found, runs } = await minimize(scenarioWith(letters), violation, { run });
    expect(namesOf(scenario)).toEqual(needed);
    expect(found.detail).toBe('at last');
    expect(runs).toBeLessThan(100);
  });

  test('keeps the scenario if nothing can be removed', async () => {
    const run = breaksIf((names) => names.length === 5);
    const failing = scenarioWith(letters.slice(0, 5));
    expect((await minimize(failing, violation, { run })).scenario).toEqual(failing);
  });

  test('is not satisfied with another invariant, nor with a run that fails', async () => {
    const run = async (scenario: Scenario) => {
      const names = namesOf(scenario);
      if (!names.includes('c')) throw new Error('it does not run');
      if (!names.includes('x')) return { violations: [{ invariant: 'another', detail: '' }] };
      return { violations: [violation] };
    };
    expect(namesOf((await minimize(scenarioWith(letters), violation, { run })).scenario)).toEqual(['c', 'x']);
  });

  test('lowers replicas and latency where they do not matter, and then removes more actions', async () => {
    const run = breaksIf(
      (names, { replicated, latencyMaxMs }) =>
        names.includes('c') && replicated.includes('volumes') && (latencyMaxMs === 0 || names.includes('d')),
    );
    const rest = { replicated: ['scheduler', 'volumes'], latencyMaxMs: 40 };
    const { scenario } = await minimize(scenarioWith(letters, rest), violation, { run });
    expect(scenario).toMatchObject({ replicated: ['volumes'], latencyMaxMs: 0 });
    expect(namesOf(scenario)).toEqual(['c']);
  });

  test('ends after a number of runs, and reports each', async () => {
    const reported: MinimizeProgress[] = [];
    const run = breaksIf((names) => names.includes('q'));
    const onProgress = (progress: MinimizeProgress) => void reported.push(progress);
    const { runs, scenario } = await minimize(scenarioWith(letters), violation, {
      run,
      runsMax: 4,
      onProgress,
    });
    expect(runs).toBe(4);
    expect(reported.map((progress) => progress.runs)).toEqual([1, 2, 3, 4]);
    expect(reported.at(-1)?.actions).toBe(scenario.actions.length);
    expect(namesOf(scenario)).toContain('q');
    expect(scenario.actions.length).toBeLessThan(letters.length);
  });

  test('finds the action of a real run that an invariant forbids', async () => {
    const noVolumes: Invariant = {
      name: 'there is no volume v0',
      onVersion: ({ key }) => (key === 'v0' ? 'there is one' : undefined),
    };
    const parts = [...partsOf('pods'), { name: 'test', invariants: [noVolumes] }];
    const whole = scenarioOfSeed(2);
    const failing = { ...whole, latencyMaxMs: 0, replicated: [], actions: whole.actions.slice(0, 12) };
    const actions = [
      ...failing.actions.filter(({ action }) => !action.startsWith('create-')),
      { atMs: 90_000, action: 'create-volume', parameters: { volume: 'v0', node: 'n0', gib: 1 } },
    ];
    const run = (scenario: Scenario) => simulate(scenario, parts);
    const [first] = (await run({ ...failing, actions })).violations;
    const { scenario } = await minimize({ ...failing, actions }, first!, { run });
    expect(namesOf(scenario)).toEqual(['create-volume']);
  });
});
