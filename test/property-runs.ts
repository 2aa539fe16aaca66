/**
 * The number of random cases of an expensive property: `count` in `npm test`. PROPERTY_RUNS=N takes N times as many:
 *
 *     PROPERTY_RUNS=20 PROPERTY_SEED=random npx vitest run src/engine/properties
 */
export function propertyRuns(count: number): number {
  return count * Number(process.env.PROPERTY_RUNS ?? 1);
}
