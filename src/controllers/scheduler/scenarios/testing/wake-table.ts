import { expect, test } from 'vitest';
import { SchedulerFixture, type SchedulerFixtureOptions } from '../../testing/scheduler-fixture.ts';
import { schedulingAttempts } from './fixtures.ts';

export type FixtureStep = (fixture: SchedulerFixture) => Promise<unknown>;

export interface WakeRow {
  /** The change; reads as a continuation of the table's name. */
  readonly name: string;
  readonly step: FixtureStep;
  /** Whether the pod is scheduled again immediately. `placed`: the pod also gets a node. */
  readonly wakes: boolean | 'placed';
}

export interface WakeTable {
  /** Creates the pod `web`, which is refused. */
  readonly seed: FixtureStep;
  /** Part of the message of the refusal. */
  readonly refused: string;
  readonly rows: readonly WakeRow[];
  readonly options?: SchedulerFixtureOptions;
}

/** Expects for each change whether it makes the scheduler try a refused pod again. */
export function expectWakes({ seed, refused, rows, options }: WakeTable): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', async (_, { step: happens, wakes }) => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1'], ...options });
    await seed(fixture);
    await fixture.settle();
    expect(await fixture.place('web')).toContain(refused);
    // Until all writes about new objects are done, such as the first status of a node agent.
    await fixture.settle(45_000);
    const before = schedulingAttempts(fixture);
    await happens(fixture);
    await fixture.settle();
    expect(schedulingAttempts(fixture) > before ? 'scheduled again' : 'not scheduled again').toBe(
      wakes === false ? 'not scheduled again' : 'scheduled again',
    );
    if (wakes === 'placed') expect(await fixture.place('web')).toMatch(/^n\d$/);
  });
}
