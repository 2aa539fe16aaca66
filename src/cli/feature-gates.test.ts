import { expect, test } from 'vitest';
import { featureGatesOf } from './feature-gates.ts';

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
