import { expect, onTestFinished, test } from 'vitest';
import { EmbeddedFixture } from '../../cluster/testing/embedded-fixture.ts';
import { failWith } from '../../cluster/testing/fault-hooks.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import { type ApiError, failure } from '../../kube/api-error.ts';
import { configMaps } from '../../kube/resources.ts';
import { seededRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Informer } from './informer.ts';

const notServed = failure(404, 'NotFound', 'the server could not find the requested resource', {});
const forbidden = failure(403, 'Forbidden', 'configmaps is forbidden: User "x" cannot list resource');
const minuteMs = 60_000;

interface Beginning {
  readonly isOptional: boolean;
  /** What every request is answered from the start. */
  readonly error?: ApiError;
}

async function begin({ isOptional, error }: Beginning) {
  const clock = new VirtualClock();
  const { cluster, intercepted, calls } = await EmbeddedFixture.start(clock);
  await cluster.resource(configMaps).create({ metadata: { namespace: 'default', name: 'a' } });
  const random = seededRandom('absent resource');
  const supervisor = new Supervisor({ clock, random, onCrash: () => expect.fail('it crashed') });
  const errors: unknown[] = [];
  const informer = new Informer<ConfigMap>({
    cluster: intercepted,
    resource: { ...configMaps, isOptional },
    clock,
    random,
    onError: (told) => errors.push(told),
  });
  /** From now on; the returned function ends it. */
  const refuseAll = (with_: ApiError) => {
    const comeBack = intercepted.addHooks({ before: failWith(with_) });
    intercepted.endWatches({ error: with_ });
    return comeBack;
  };
  const comeBack = error === undefined ? () => {} : refuseAll(error);
  informer.start(supervisor);
  onTestFinished(async () => {
    await supervisor.close();
  });
  await clock.advance(5_000);
  const keys = () => [...informer.values()].map(({ metadata }) => metadata?.name);
  return { clock, intercepted, calls, informer, errors, keys, comeBack, refuseAll };
}

test('one that clusters do well without is empty while it is not served, and is seen when it is', async () => {
  const { clock, informer, errors, keys, comeBack } = await begin({ isOptional: true, error: notServed });
  expect(informer.hasSynced).toBe(true);
  await clock.advance(60 * minuteMs);
  comeBack();
  await clock.advance(minuteMs);
  expect([keys(), errors]).toEqual([['a'], []]);
});

test('one that clusters do well without, and that goes, is empty and may come again', async () => {
  const { clock, keys, errors, refuseAll } = await begin({ isOptional: true });
  expect(keys()).toEqual(['a']);
  for (let round = 0; round < 2; round += 1) {
    const comeBack = refuseAll(notServed);
    await clock.advance(10_000);
    expect(keys()).toEqual([]);
    comeBack();
    await clock.advance(minuteMs);
    expect(keys()).toEqual(['a']);
  }
  expect(errors).toEqual([]);
});

test('any other is waited for, and that is said once', async () => {
  const { clock, informer, errors, keys, comeBack, refuseAll } = await begin({
    isOptional: false,
    error: notServed,
  });
  await clock.advance(60 * minuteMs);
  expect([informer.hasSynced, errors]).toEqual([false, [notServed]]);
  comeBack();
  await clock.advance(minuteMs);
  expect([informer.hasSynced, keys()]).toEqual([true, ['a']]);
  refuseAll(notServed);
  await clock.advance(60 * minuteMs);
  expect(errors).toEqual([notServed, notServed]);
});

test.each([true, false])(
  'it is asked for about once a minute, be it optional (%s) or not',
  async (isOptional) => {
    const { clock, calls } = await begin({ isOptional, error: notServed });
    await clock.advance(10 * minuteMs);
    const before = calls.length;
    await clock.advance(60 * minuteMs);
    const added = calls.length - before;
    expect(added).toBeGreaterThanOrEqual(60);
    expect(added).toBeLessThanOrEqual(120);
  },
);

test('without rights to what may not be there it is taken for absent, which is said once', async () => {
  const { clock, informer, errors, keys, comeBack } = await begin({ isOptional: true, error: forbidden });
  await clock.advance(10 * minuteMs);
  expect([informer.hasSynced, errors]).toEqual([true, [forbidden]]);
  comeBack();
  await clock.advance(minuteMs);
  expect(keys()).toEqual(['a']);
});

test('what was seen before the rights were lost is kept', async () => {
  const { clock, errors, keys, refuseAll } = await begin({ isOptional: true });
  refuseAll(forbidden);
  await clock.advance(10 * minuteMs);
  expect(keys()).toEqual(['a']);
  expect(errors.length).toBeGreaterThan(1);
});
