import { describe, expect, test } from 'vitest';
import { inlineVolumeSize } from './inline-volumes.ts';
import { formatQuantity } from './quantities/quantity.ts';

const size = (csi: object) => {
  const { quantity, problems } = inlineVolumeSize({ driver: 'd', ...csi }, 'csi');
  return [quantity && formatQuantity(quantity), ...problems];
};
const attribute = (value: unknown) => ({ volumeAttributes: { 'csi.storage.k8s.io/size': value } });

describe('the size of an inline volume', () => {
  test('is the field fsSize, or the attribute on clusters without that field', () => {
    expect(size({ fsSize: '10Gi' })).toEqual(['10Gi']);
    expect(size(attribute('10Gi'))).toEqual(['10Gi']);
  });

  test('It must be a pointer to distinguish between no size and zero size selected', () => {
    expect(size({})).toEqual([undefined]);
    expect(size({ fsSize: null })).toEqual([undefined]);
    expect(size(attribute(''))).toEqual([undefined]);
    expect(size({ fsSize: '0' })).toEqual(['0']);
    expect(size(attribute('0'))).toEqual(['0']);
  });

  test('is an error that names both if both are set', () => {
    expect(size({ fsSize: '1Gi', ...attribute('2Gi') })).toEqual([
      '1Gi',
      'csi.fsSize and csi.volumeAttributes[csi.storage.k8s.io/size]: both set the size of the volume; remove one of them',
    ]);
  });

  test('specifying the size by a driver-specific parameter must continue to work', () => {
    expect(size({ volumeAttributes: { size: '5Gi' } })).toEqual([undefined]);
    expect(size({ fsSize: '1Gi', volumeAttributes: { size: 'large' } })).toEqual(['1Gi']);
  });

  test.each([
    [{ fsSize: '10Gx' }, /^csi\.fsSize: "10Gx" is not a quantity/],
    [{ fsSize: '-1' }, /^csi\.fsSize: "-1" is negative/],
    [attribute('big'), /^csi\.volumeAttributes\[csi\.storage\.k8s\.io\/size\]: "big" is not a quantity/],
    [{ fsSize: {} }, /^csi\.fsSize: found a value of type object/],
    [{ volumeAttributes: 7, fsSize: '1' }, undefined],
  ])('%j has field and problem', (csi, problem) => {
    const [, ...problems] = size(csi);
    expect(problems).toEqual(problem === undefined ? [] : [expect.stringMatching(problem)]);
  });
});
