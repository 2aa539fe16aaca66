import fc from 'fast-check';

/** Something with the given chance out of a hundred, else nothing. */
export function sometimes<T>(percent: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary: value },
  );
}

/** Drops the fields that came out as undefined: on the wire they are absent. */
export function compact<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

export const sizes = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('1Gi', '2Gi', '2Gi', '2048Mi', '3Gi', '4Gi', '5Gi', '10Gi') },
  { weight: 2, arbitrary: fc.constantFrom('800E', '7E', '9007199254740992', '9007199254740993') },
  { weight: 1, arbitrary: fc.constantFrom('0', '1', '1500m', '1600m', '0.5Gi', '1e9') },
);


