import { describe, expect, test } from 'vitest';
import { runBeside, startBinding } from './testing/binding-fixture.ts';
import { failEverywhere, type When } from './testing/every-write.ts';
import type { SchedulerFixture } from './testing/scheduler-fixture.ts';
import { situations } from './testing/situations.ts';
import { TroubledCluster } from './testing/troubled-cluster.ts';

describe.each<{ when: When; what: string }>([
  { when: 'before', what: 'is refused' },
  { when: 'after', what: 'takes effect and is answered with an error' },
])('the end is the same when any write $what', ({ when }) => {
  test.each(situations)('$name', async ({ prepare, writes }) => {
    const written = await failEverywhere(when, async (fixture) => {
      runBeside(fixture, 'pv-binder');
      await prepare(fixture);
    });
    expect(written.map(({ verb, plural }) => `${verb} ${plural}`)).toEqual(writes);
  });
});

test('a binding that took effect counts, though it was answered with an error', async () => {
  const way = (cluster: SchedulerFixture['cluster']) => {
    const troubled = new TroubledCluster(cluster);
    troubled.troubles = {
      after: ({ verb }) => {
        if (verb === 'post') throw new Error('the line is dead');
      },
    };
    return troubled;
  };
  await using fixture = await startBinding({ way });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.toldOf('web')).toEqual(['Scheduled: Successfully assigned default/web to n1']);
});
