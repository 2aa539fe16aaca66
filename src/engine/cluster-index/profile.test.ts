import { describe, expect, test } from 'vitest';
import { ClusterIndex } from './cluster-index.ts';
import { inFlightPolicy, stowageProfile, type UtilizationShape, upstreamProfile } from './profile.ts';

function withShape(volumeShape: UtilizationShape) {
  return { ...stowageProfile, scoring: { ...stowageProfile.scoring, volumeShape } };
}

describe('a profile', () => {
  test.each([stowageProfile, upstreamProfile])('that comes with the engine makes sense: $name', (profile) => {
    expect(() => new ClusterIndex(profile)).not.toThrow();
  });

  test.each<[string, UtilizationShape, string]>([
    ['without points', [], 'scoring.volumeShape: has no points'],
    [
      'above 100 percent',
      [{ utilization: 101, score: 1 }],
      'scoring.volumeShape[0].utilization: must be from 0 to 100',
    ],
    [
      'below 0 percent',
      [{ utilization: -1, score: 1 }],
      'scoring.volumeShape[0].utilization: must be from 0 to 100',
    ],
    [
      'with a score above 10',
      [{ utilization: 1, score: 11 }],
      'scoring.volumeShape[0].score: must be from 0 to 10',
    ],
    [
      'with a score that is no number',
      [{ utilization: 1, score: Number.NaN }],
      'scoring.volumeShape[0].score',
    ],
    [
      'with two points at one utilization',
      [
        { utilization: 1, score: 1 },
        { utilization: 1, score: 2 },
      ],
      'scoring.volumeShape[1].utilization: must be more than that of the point before it',
    ],
  ])('is refused with a shape %s', (_, shape, problem) => {
    expect(() => new ClusterIndex(withShape(shape))).toThrow(problem);
  });

  test('is refused with a negative wait for settled promises', () => {
    expect(() => new ClusterIndex({ ...stowageProfile, settledPromiseMaxMs: -1 })).toThrow(
      'settledPromiseMaxMs',
    );
  });

  test.each([
    ['an assignment', { assignment: 'best' }, 'assignment: "best" is none of exact, ascending'],
    ['a policy', { inFlight: 'linaer' }, 'inFlight: "linaer" is none of linear, one-at-a-time, off'],
    ['a policy of a driver', { inFlightOf: { d: 'on' } }, 'inFlightOf[d]: "on" is none of'],
    ['a form of pools', { poolForms: ['Pool'] }, 'poolForms: "Pool" is none of'],
  ])('is refused with %s that there is not', (_, fields, problem) => {
    expect(() => new ClusterIndex({ ...stowageProfile, ...fields } as never)).toThrow(problem);
  });

  test('has one policy for drivers in general and others by name', () => {
    const profile = { ...stowageProfile, inFlightOf: { 'odd.example.com': 'one-at-a-time' as const } };
    expect(inFlightPolicy(profile, 'odd.example.com')).toBe('one-at-a-time');
    expect(inFlightPolicy(profile, 'constructor')).toBe('linear');
  });
});
