import { expect, test } from 'vitest';
import { SchedulerFixture, type SchedulerFixtureOptions } from '../../testing/scheduler-fixture.ts';
import { attempts } from './fixtures.ts';

export type FixtureStep = (fixture: SchedulerFixture) => Promise<unknown>;

export interface WakeRow {
  /** What happens, to be read after the name of the table. */
  readonly name: string;
  readonly happens: FixtureStep;
  /** Whether the pod is looked at again, and at once. `placed`: and finds its node. */
  readonly wakes: boolean | 'placed';
}

export interface WakeTable {
  /** Makes the pod `web`, which is refused. */
  readonly seed: FixtureStep;
  /** In the words of the refusal. */
  readonly refused: string;
  readonly rows: readonly WakeRow[];
  readonly options?: SchedulerFixtureOptions;
}

/** A pod that is refused, and for each thing that happens afterwards whether the pod is looked at again. */
export function expectWakes({ seed: furnish, refused, rows, options }: WakeTable): void {
  test.each(rows.map((row) => [row.name, row] as const))('%s', async (_, { happens, wakes }) => {
    await using fixture = await SchedulerFixture.start({ nodes: ['n1'], ...options });
    await furnish(fixture);
    await fixture.settle();
    expect(await fixture.place('web')).toContain(refused);
    // Away from everything that is written when things are new, such as the first word of a node agent.
    await fixture.settle(45_000);
    const before = attempts(fixture);
    await happens(fixture);
    await fixture.settle();
    expect(attempts(fixture) > before ? 'looked at again' : 'left alone').toBe(
      wakes === false ? 'left alone' : 'looked at again',
    );
    if (wakes === 'placed') expect(await fixture.place('web')).toMatch(/^n\d$/);
  });
}
