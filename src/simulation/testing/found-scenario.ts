import { expect, test } from 'vitest';
import type { ActionParameters, Scenario } from '../scenario.ts';
import { simulate } from '../simulation.ts';

/** The smallest scenario of a seed that found a bug. It failed before the bug was fixed. */
export interface FoundScenario extends Omit<Scenario, 'actions'> {
  readonly name: string;
  readonly actions: readonly (readonly [atMs: number, action: string, parameters: ActionParameters])[];
}

export function testFound(scenarios: readonly FoundScenario[]): void {
  test.each(scenarios)('$name', async ({ actions, ...scenario }) => {
    const timed = actions.map(([atMs, action, parameters]) => ({ atMs, action, parameters }));
    expect((await simulate({ ...scenario, actions: timed })).violations).toEqual([]);
  });
}
