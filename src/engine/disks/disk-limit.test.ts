import { expect, test } from 'vitest';
import { diskLimit } from './disk-limit.ts';

const seen = { storageMaximum: 1000, storageAvailable: 600 };

test('by default the limit is storageAvailable less storageReserved', () => {
  expect(diskLimit(seen, undefined, undefined)).toEqual({ kind: 'known', bytes: 600 });
  expect(diskLimit(seen, { storageReserved: 100 }, {})).toEqual({ kind: 'known', bytes: 500 });
  expect(diskLimit(seen, { storageReserved: 700 }, {})).toEqual({ kind: 'known', bytes: 0 });
});

test('with OverProvision it is a percentage of storageMaximum less storageReserved, whatever is available', () => {
  const settings = { capacityPolicy: 'OverProvision', overProvisioningPercentage: 150 } as const;
  expect(diskLimit(seen, { storageReserved: 100 }, settings)).toEqual({ kind: 'known', bytes: 1350 });
  expect(diskLimit({ storageMaximum: 1000 }, undefined, { capacityPolicy: 'OverProvision' })).toEqual({
    kind: 'known',
    bytes: 1000,
  });
  expect(
    diskLimit({ storageMaximum: 99 }, undefined, { ...settings, overProvisioningPercentage: 50 }),
  ).toEqual({
    kind: 'known',
    bytes: 49,
  });
});

test('the policy of a disk comes before that of all disks', () => {
  const all = { capacityPolicy: 'OverProvision', overProvisioningPercentage: 200 } as const;
  expect(diskLimit(seen, { capacityPolicy: 'Available' }, all)).toEqual({ kind: 'known', bytes: 600 });
  expect(diskLimit(seen, { capacityPolicy: 'OverProvision' }, all)).toEqual({ kind: 'known', bytes: 2000 });
  const own = { capacityPolicy: 'OverProvision', overProvisioningPercentage: 110 } as const;
  expect(diskLimit(seen, own, {})).toEqual({ kind: 'known', bytes: 1100 });
});

test('products that a number cannot represent are exact or the largest size', () => {
  const settings = { capacityPolicy: 'OverProvision', overProvisioningPercentage: 33 } as const;
  const storageMaximum = 2 ** 53 - 1;
  const third = Number((BigInt(storageMaximum) * 33n) / 100n);
  expect(diskLimit({ storageMaximum }, undefined, settings)).toEqual({ kind: 'known', bytes: third });
  expect(
    diskLimit({ storageMaximum }, undefined, { ...settings, overProvisioningPercentage: 10_000 }),
  ).toEqual({
    kind: 'known',
    bytes: storageMaximum,
  });
});

test('a figure that is missing, and a disk of 0 bytes, are unknown, not 0', () => {
  expect(diskLimit({ storageMaximum: 5 }, undefined, {})).toEqual({
    kind: 'unknown',
    missing: 'storageAvailable',
  });
  expect(diskLimit({ storageMaximum: 0, storageAvailable: 0 }, undefined, {})).toEqual({
    kind: 'unknown',
    missing: 'storageMaximum',
  });
  expect(diskLimit({ storageAvailable: 5 }, undefined, { capacityPolicy: 'OverProvision' })).toEqual({
    kind: 'unknown',
    missing: 'storageMaximum',
  });
});
