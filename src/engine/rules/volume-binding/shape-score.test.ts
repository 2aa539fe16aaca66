import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packShape, spreadShape, type UtilizationShape } from '../../cluster-index/profile.ts';
import { integerShapeScore, ShapeLines } from './shape-score.ts';

const bent: UtilizationShape = [
  { utilization: 50, score: 0 },
  { utilization: 80, score: 3 },
  { utilization: 100, score: 5 },
];

describe('a shape', () => {
  test.each<[string, UtilizationShape, number, number]>([
    ['packing, empty', packShape, 0, 0],
    ['packing, half full', packShape, 50, 50],
    ['packing, full', packShape, 100, 100],
    ['spreading, a quarter full', spreadShape, 25, 75],
    ['bent, before its first point', bent, 10, 0],
    ['bent, on its first line', bent, 65, 15],
    ['bent, at a corner', bent, 80, 30],
    ['bent, after its last point', bent, 120, 50],
    ['of one point', [{ utilization: 30, score: 7 }], 90, 70],
  ])('%s', (_, shape, utilization, score) => {
    expect(new ShapeLines(shape).at(utilization)).toBeCloseTo(score, 10);
    expect(integerShapeScore(shape, utilization)).toBe(score);
  });

  test('in whole numbers differs from the line by at most one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), (utilization) => {
        const exact = new ShapeLines(bent).at(utilization);
        expect(Math.abs(integerShapeScore(bent, utilization) - exact)).toBeLessThan(1);
      }),
    );
  });
});
