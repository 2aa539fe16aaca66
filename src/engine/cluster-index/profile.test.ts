import { describe, expect, test } from 'vitest';
import { ClusterIndex } from './cluster-index.ts';
import { inFlightPolicy, stowageProfile, type UtilizationShape, upstreamProfile } from './profile.ts';

function withShape(volumeShape: UtilizationShape) {
  return { ...stowageProfile, scoring: { ...stowageProfile.scoring, volumeShape } };
}

describe('a profile', () => {
  test.each([stowageProfile, upstreamProfile])('that the engine defines is valid: $name', (profile) => {
    expect(() => new ClusterIndex(profile)).not.toThrow();
  });

  test.each<[string, UtilizationShape, string]>([
    ['without points', [], 'scoring.volumeShape: must have at least one point'],
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
      'with a score that is not a number',
      [{ utilization: 1, score: Number.NaN }],
      'scoring.volumeShape[0].score',
    ],
    [
      'with two points at one utilization',
      [
        { utilization: 1, score: 1 },
        { utilization: 1, score: 2 },
      ],
      'scoring.volumeShape[1].utilization: must be greater than that of the previous point',
    ],
  ])('is refused with a shape %s', (_, shape, problem) => {
    expect(() => new ClusterIndex(withShape(shape))).toThrow(problem);
  });

  test('is refused with a negative expiry of settled promises', () => {
    expect(() => new ClusterIndex({ ...stowageProfile, settledPromiseMaxMs: -1 })).toThrow(
      'settledPromiseMaxMs',
    );
  });

  test.each([
    ['an assignment', { assignment: 'best' }, 'assignment: "best" must be one of exact, ascending'],
    ['a policy', { inFlight: 'linaer' }, 'inFlight: "linaer" must be one of linear, one-at-a-time, off'],
    ['a policy of a driver', { inFlightOf: { d: 'on' } }, 'inFlightOf[d]: "on" must be one of'],
    ['a form of pools', { poolForms: ['Pool'] }, 'poolForms: "Pool" must be one of'],
  ])('is refused with %s that does not exist', (_, fields, problem) => {
    expect(() => new ClusterIndex({ ...stowageProfile, ...fields } as never)).toThrow(problem);
  });

  test('has a default in-flight policy, and others by driver name', () => {
    const profile = { ...stowageProfile, inFlightOf: { 'odd.example.com': 'one-at-a-time' as const } };
    expect(inFlightPolicy(profile, 'odd.example.com')).toBe('one-at-a-time');
    expect(inFlightPolicy(profile, 'constructor')).toBe('linear');
  });
});
