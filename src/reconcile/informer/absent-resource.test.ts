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
  /** The answer to every request from the start. */
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
    onError: (reported) => errors.push(reported),
  });
  /** Applies from now on; the returned function ends it. */
  const refuseAll = (with_: ApiError) => {
    const recover = intercepted.addHooks({ before: failWith(with_) });
    intercepted.endWatches({ error: with_ });
    return recover;
  };
  const recover = error === undefined ? () => {} : refuseAll(error);
  informer.start(supervisor);
  onTestFinished(async () => {
    await supervisor.close();
  });
  await clock.advance(5_000);
  const keys = () => [...informer.values()].map(({ metadata }) => metadata?.name);
  return { clock, intercepted, calls, informer, errors, keys, recover, refuseAll };
}

test('an optional resource is empty while it is not served, and its objects appear once it is', async () => {
  const { clock, informer, errors, keys, recover } = await begin({ isOptional: true, error: notServed });
  expect(informer.hasSynced).toBe(true);
  await clock.advance(60 * minuteMs);
  recover();
  await clock.advance(minuteMs);
  expect([keys(), errors]).toEqual([['a'], []]);
});

test('an optional resource that disappears is empty and may come back', async () => {
  const { clock, keys, errors, refuseAll } = await begin({ isOptional: true });
  expect(keys()).toEqual(['a']);
  for (let round = 0; round < 2; round += 1) {
    const recover = refuseAll(notServed);
    await clock.advance(10_000);
    expect(keys()).toEqual([]);
    recover();
    await clock.advance(minuteMs);
    expect(keys()).toEqual(['a']);
  }
  expect(errors).toEqual([]);
});

test('the informer waits for any other resource, and reports that once', async () => {
  const { clock, informer, errors, keys, recover, refuseAll } = await begin({
    isOptional: false,
    error: notServed,
  });
  await clock.advance(60 * minuteMs);
  expect([informer.hasSynced, errors]).toEqual([false, [notServed]]);
  recover();
  await clock.advance(minuteMs);
  expect([informer.hasSynced, keys()]).toEqual([true, ['a']]);
  refuseAll(notServed);
  await clock.advance(60 * minuteMs);
  expect(errors).toEqual([notServed, notServed]);
});

test.each([true, false])(
  'an absent resource is requested about once a minute, optional (%s) or not',
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

test('an optional resource without permission counts as absent, which is reported once', async () => {
  const { clock, informer, errors, keys, recover } = await begin({ isOptional: true, error: forbidden });
  await clock.advance(10 * minuteMs);
  expect([informer.hasSynced, errors]).toEqual([true, [forbidden]]);
  recover();
  await clock.advance(minuteMs);
  expect(keys()).toEqual(['a']);
});

test('objects that were seen before the permission was lost are kept', async () => {
  const { clock, errors, keys, refuseAll } = await begin({ isOptional: true });
  refuseAll(forbidden);
  await clock.advance(10 * minuteMs);
  expect(keys()).toEqual(['a']);
  expect(errors.length).toBeGreaterThan(1);
});
