import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { csiNodes, storageClasses } from '../../kube/resources.ts';
import type { CapacitySettings } from '../capacity-settings.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

const forms: readonly Partial<CapacitySettings>[] = [{}, { form: 'DriverCapacity' }];

interface Crash {
  readonly afterWrites?: number;
  readonly atCall?: number;
}

/** Objects to create, to change and to remove, and a publisher that dies once on the way. */
async function endOf(settings: Partial<CapacitySettings>, crash: Crash) {
  await using fixture = await PublisherFixture.prepare({
    pools: { n1: 10n * gib, n3: 30n * gib },
    classes: ['fast', 'slow'],
    settings,
  });
  const first = fixture.run();
  await fixture.settle(2_000);
  await first.close();
  await fixture.provision('a', 'n1', gib);
  await fixture.cluster.resource(csiNodes).delete({ name: 'n3' });
  await fixture.cluster.resource(storageClasses).delete({ name: 'slow' });
  const writes = new CrashAfterWrites(crash.afterWrites ?? Number.POSITIVE_INFINITY);
  let calls = 0;
  let hasCrashed = false;
  fixture.driver.beforeCall = (method) => {
    if (method !== 'GetCapacity') return undefined;
    calls += 1;
    hasCrashed ||= calls === crash.atCall;
    // The process has ended: it gets no response.
    return hasCrashed ? new Promise(() => {}) : undefined;
  };
  const second = fixture.run(new InterceptedCluster(fixture.cluster, writes));
  await fixture.settle(70_000);
  const isInterrupted = writes.hasCrashed || hasCrashed;
  await second.close();
  fixture.driver.beforeCall = undefined;
  if (isInterrupted) fixture.run();
  await fixture.settle(140_000);
  return {
    isInterrupted,
    state: settings.form === undefined ? await fixture.published() : await fixture.pools(),
  };
}

test.each(forms)('a publisher with the settings %o may die after any write', async (settings) => {
  const expected = await endOf(settings, {});
  expect(expected.state.some((line) => /n3|slow/.test(line))).toBe(false);
  for (let afterWrites = 1; ; afterWrites += 1) {
    const end = await endOf(settings, { afterWrites });
    expect(end.state, `after write ${afterWrites}`).toEqual(expected.state);
    if (!end.isInterrupted) break;
  }
});

test('a publisher may die during any call', async () => {
  const expected = await endOf({}, {});
  for (let atCall = 1; ; atCall += 1) {
    const end = await endOf({}, { atCall });
    expect(end.state, `during call ${atCall}`).toEqual(expected.state);
    if (!end.isInterrupted || atCall === 4) break;
  }
});
