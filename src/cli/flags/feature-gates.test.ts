import { expect, test } from 'vitest';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { featureGatesOf, gatedProfile } from './feature-gates.ts';

test.each([
  ['', true],
  ['VolumeScheduling=true', true],
  [' VolumeScheduling = false ', false],
])('--feature-gates %j', (text, isOn) => {
  expect(featureGatesOf(text).VolumeScheduling).toBe(isOn);
});

test.each(['Unknown=true', 'VolumeScheduling', 'VolumeScheduling=maybe', 'constructor=true'])(
  '--feature-gates %j is refused',
  (text) => {
    expect(() => featureGatesOf(text)).toThrow(/^--feature-gates: .*; /);
  },
);

test('--feature-gates CSIStorageCapacity=false: published capacity is not read', () => {
  expect(gatedProfile(stowageProfile, featureGatesOf('')).poolForms).not.toEqual([]);
  expect(gatedProfile(stowageProfile, featureGatesOf('CSIStorageCapacity=false')).poolForms).toEqual([]);
});
