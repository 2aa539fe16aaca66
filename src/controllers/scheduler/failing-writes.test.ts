import { describe, expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { bindingCases } from './testing/binding-cases.ts';
import { runController, startBinding } from './testing/binding-fixture.ts';
import { type FaultTime, failAtEveryWrite } from './testing/fault-at-every-write.ts';
import type { SchedulerFixture } from './testing/scheduler-fixture.ts';

describe.each<{ when: FaultTime; what: string }>([
  { when: 'before', what: 'is refused' },
  { when: 'after', what: 'takes effect and returns an error' },
])('the final state is the same when any write $what', ({ when }) => {
  test.each(bindingCases)('$name', async ({ prepare, writes }) => {
    const written = await failAtEveryWrite(when, async (fixture) => {
      runController(fixture, 'pv-binder');
      await prepare(fixture);
    });
    expect(written.map(({ verb, resource }) => `${verb} ${resource.plural}`)).toEqual(writes);
  });
});

test('a binding that took effect counts, although it returned an error', async () => {
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        after: ({ verb }) => {
          if (verb === 'post') throw new Error('connection reset');
        },
      }),
    );
  };
  await using fixture = await startBinding({ wrapCluster });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle();
  expect(await fixture.eventsOf('web')).toEqual(['Scheduled: Successfully assigned default/web to n1']);
});
