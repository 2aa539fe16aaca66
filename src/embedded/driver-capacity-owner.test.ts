import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { csiDrivers, driverCapacities } from '../kube/resources.ts';
import { undefinedIfNotFound } from '../kube/undefined-if-not-found.ts';
import { silentLog } from '../runtime/log.ts';
import { EmbeddedControlPlane } from './embedded-control-plane.ts';

let plane: EmbeddedControlPlane;

beforeAll(async () => {
  plane = await EmbeddedControlPlane.start({ controllers: ['garbage-collector'], log: silentLog });
  await plane.ready(new AbortController().signal);
});

afterAll(async () => {
  await plane.close();
});

const drivers = () => plane.cluster.resource(csiDrivers);
const capacities = () => plane.cluster.resource(driverCapacities);
const ownersOf = async (name: string) =>
  (await capacities().get({ name })).metadata?.ownerReferences?.map(({ kind, name: owner, uid }) => [
    kind,
    owner,
    uid,
  ]);

test('the capacity reports of a driver are deleted with it', async () => {
  const name = 'csi.example.com';
  const driver = await drivers().create({ metadata: { name }, spec: {} });
  await capacities().create({ metadata: { name }, spec: { capacityTracking: true } });
  expect(await ownersOf(name)).toEqual([['CSIDriver', name, driver.metadata?.uid]]);
  await drivers().delete({ name });
  await vi.waitFor(
    async () => expect(await undefinedIfNotFound(capacities().get({ name }))).toBeUndefined(),
    { timeout: 120_000 },
  );
});

test('figures that are older than their driver get their owner at the next write, also of the status', async () => {
  const name = 'late.example.com';
  const created = await capacities().create({ metadata: { name }, spec: { capacityTracking: true } });
  expect(await ownersOf(name)).toBeUndefined();
  const driver = await drivers().create({ metadata: { name }, spec: {} });
  await capacities().update({ ...created, status: { storage: [] } }, { subresource: 'status' });
  expect(await ownersOf(name)).toEqual([['CSIDriver', name, driver.metadata?.uid]]);
});

test('the driver that spec.driver names owns every object with its pools', async () => {
  const name = 'sharded.example.com';
  const driver = await drivers().create({ metadata: { name }, spec: {} });
  await capacities().create({ metadata: { name: 'shard-of-n1' }, spec: { driver: name } });
  expect(await ownersOf('shard-of-n1')).toEqual([['CSIDriver', name, driver.metadata?.uid]]);
});

test('figures without a driver stay', async () => {
  const name = 'none.example.com';
  await capacities().create({ metadata: { name }, spec: {} });
  expect(await ownersOf(name)).toBeUndefined();
});
