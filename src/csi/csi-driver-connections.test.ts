import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../runtime/clock.ts';
import { seededRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { CsiAddressError } from './csi-address.ts';
import { CsiDriverConnections } from './csi-driver-connections.ts';
import { CsiFixture } from './testing/csi-fixture.ts';
import { EnforcingDriver } from './testing/enforcing-driver.ts';

function connectionsTo(fixture: CsiFixture, addresses: readonly string[]): CsiDriverConnections {
  const random = seededRandom('csi');
  const supervisor = new Supervisor({ clock: realClock, random, onCrash: () => {} });
  onTestFinished(async () => void (await supervisor.close()));
  const { log, metrics } = fixture;
  return new CsiDriverConnections({
    addresses,
    addressSource: '--csi-address',
    clock: realClock,
    random,
    log,
    metrics,
    supervisor,
  });
}

test('a driver joins when it answers, also long after the start', async () => {
  await using fixture = new CsiFixture();
  const set = connectionsTo(fixture, [`unix://${fixture.path}`, fixture.path]);
  expect(set.all()).toEqual([]);
  const joined = new Promise<string>((resolve) => set.onJoin(({ name }) => resolve(name)));
  await fixture.serve(new EnforcingDriver({ pools: {} }).services());
  expect(await joined).toBe('enforcing.example.com');
  expect(set.get('enforcing.example.com')?.hasTopology).toBe(true);
  expect(set.all()).toHaveLength(1);
});

test('of two drivers with one name the second is reported and not used', async () => {
  await using one = new CsiFixture();
  await using two = new CsiFixture();
  await one.serve(new EnforcingDriver({ pools: {} }).services());
  await two.serve(new EnforcingDriver({ pools: {} }).services());
  const set = connectionsTo(one, [one.path, two.path]);
  await expect.poll(() => one.logged.join('\n'), { timeout: 60_000 }).toContain('remove one of them');
  expect(set.all()).toHaveLength(1);
});

test('an address that is none is an error before anything starts', async () => {
  await using fixture = new CsiFixture();
  expect(() => connectionsTo(fixture, ['tcp://127.0.0.1:1'])).toThrow(CsiAddressError);
});
