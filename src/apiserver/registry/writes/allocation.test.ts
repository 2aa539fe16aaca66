import { beforeEach, expect, test } from 'vitest';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});
const make = (name: string, spec: object = {}, dryRun = false) =>
  fixture.create('services', service(name, spec), { dryRun });

test('services created concurrently get distinct addresses and ports', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const made = await Promise.all(names.map((name) => make(name, { type: 'NodePort' })));
  const ips = new Set(made.map(({ spec }) => spec?.clusterIP));
  const ports = new Set(made.map(({ spec }) => JSON.stringify(spec?.ports)));
  expect([ips.size, ports.size]).toEqual([20, 20]);
});

test('freed and rolled back values are allocated again', async () => {
  const { spec } = await make('a');
  await fixture.delete('services', 'a');
  expect((await make('b')).spec?.clusterIP).toBe(spec?.clusterIP);
  fixture.gate.shut();
  const lost = make('c').catch((error: Error) => error.message);
  await new Promise((resolve) => setImmediate(resolve));
  fixture.gate.fail(new Error('the disk is full'));
  expect(await lost).toBe('the disk is full');
  fixture.gate.open();
  const again = await make('d');
  expect((await make('e')).spec?.clusterIP).not.toBe(again.spec?.clusterIP);
});

test('a dry run allocates nothing', async () => {
  const { spec } = await make('a', {}, true);
  expect((await make('b')).spec?.clusterIP).toBe(spec?.clusterIP);
});

test('an address in use is refused, also to concurrent writers', async () => {
  const asked = { clusterIP: '10.96.7.7' };
  const [, second] = await Promise.allSettled([make('a', asked), make('b', asked)]);
  expect(second?.status).toBe('rejected');
  expect(await errorOf(make('c', asked))).toMatch(/^Invalid: .*provided IP is already allocated/);
});

test('a service keeps its values when it is updated', async () => {
  const { spec } = await make('a', { type: 'NodePort' });
  await fixture.patch('services', 'a', { metadata: { labels: { x: 'y' } } });
  expect((await fixture.get('services', 'a')).spec).toEqual(spec);
});
