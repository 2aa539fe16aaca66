import { expect, test } from 'vitest';
import { CsiReplyError } from './csi-errors.ts';
import { InProcessDriver } from './in-process-driver.ts';
import { EnforcingDriver } from './testing/enforcing-driver.ts';

const gib = 2n ** 30n;
const { signal } = new AbortController();
const volumeCapabilities = [
  { accessType: { case: 'mount' as const, value: {} }, accessMode: { mode: 1 as const } },
];

function volume(name: string, requiredBytes: bigint) {
  return { name, volumeCapabilities, capacityRange: { requiredBytes } };
}

test('a driver in this process has a name, capabilities and calls like one behind a socket', async () => {
  const backend = new EnforcingDriver({ pools: { n1: 10n * gib } });
  const driver = await InProcessDriver.connect(backend.services(), signal);
  expect(driver).toMatchObject({ name: 'enforcing.example.com', hasTopology: true });
  expect(driver.hasControllerCapability('GET_CAPACITY')).toBe(true);
  expect(driver.hasControllerCapability('MODIFY_VOLUME')).toBe(false);
  expect(driver.hasNodeCapability('STAGE_UNSTAGE_VOLUME')).toBe(true);

  const { volume: created } = await driver.call('CreateVolume', volume('a', 8n * gib), { signal });
  expect(created).toMatchObject({ volumeId: 'id-a', capacityBytes: 8n * gib });
  const { availableCapacity } = await driver.call('GetCapacity', {}, { signal });
  expect(availableCapacity).toBe(2n * gib);
});

test('its errors have the types and outcomes of the wire', async () => {
  const backend = new EnforcingDriver({ pools: { n1: 10n * gib } });
  const driver = await InProcessDriver.connect(backend.services(), signal);
  const ended: string[] = [];
  driver.onCallEnd(({ method, error }) => ended.push(`${method} ${error === undefined}`));
  await expect(driver.call('CreateVolume', volume('a', 11n * gib), { signal })).rejects.toMatchObject({
    code: 'ResourceExhausted',
    outcome: { effect: 'none', next: 'move' },
  });
  await expect(driver.call('CreateVolume', { name: '' }, { signal })).rejects.toMatchObject({
    code: 'InvalidArgument',
  });
  const validation = { volumeId: 'a', volumeCapabilities };
  await expect(driver.call('ValidateVolumeCapabilities', validation, { signal })).rejects.toMatchObject({
    code: 'Unimplemented',
  });
  expect(ended).toEqual(['CreateVolume false', 'CreateVolume false', 'ValidateVolumeCapabilities false']);
});

test('a reply that CSI forbids is an error with its field', async () => {
  const backend = new EnforcingDriver({ pools: {} });
  const { identity } = backend.services();
  const services = { identity, controller: { createVolume: async () => ({}) } };
  const driver = await InProcessDriver.connect(services, signal);
  const call = driver.call('CreateVolume', volume('a', gib), { signal });
  await expect(call).rejects.toThrow(CsiReplyError);
  await expect(call).rejects.toMatchObject({ field: 'volume' });
});
