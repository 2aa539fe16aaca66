import fc from 'fast-check';
import { test } from 'vitest';
import { ModelDriver } from './testing/model-driver.ts';
import type { ModelPlural } from './testing/registry-model.ts';

type Step = (driver: ModelDriver) => void | Promise<void>;

const plural = fc.constantFrom<ModelPlural>('configmaps', 'pods');
const name = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('red', 'blue');
const finalizers = fc.constantFrom<readonly string[]>([], [], ['x.io/one'], ['x.io/one', 'x.io/two']);
const version = fc.constantFrom('current', 'old', undefined, undefined);
const selected = fc.option(value, { nil: undefined });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(plural, name, value, finalizers).map(
      (drawn): Step =>
        (driver) =>
          driver.create(...drawn),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(plural, name, fc.record({ value, version })).map(
      (drawn): Step =>
        (driver) =>
          driver.patch(...drawn),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(plural, name, fc.record({ finalizers, version })).map(
      (drawn): Step =>
        (driver) =>
          driver.patch(...drawn),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, value, version).map(
      (drawn): Step =>
        (driver) =>
          driver.replace(...drawn),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(plural, name, fc.boolean()).map(
      (drawn): Step =>
        (driver) =>
          driver.delete(...drawn),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, fc.constantFrom('n1', 'n2')).map(
      (drawn): Step =>
        (driver) =>
          driver.bind(...drawn),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(plural, name).map(
      (drawn): Step =>
        (driver) =>
          driver.get(...drawn),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(plural, selected, fc.boolean()).map(
      (drawn): Step =>
        (driver) =>
          driver.list(...drawn),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Step>((driver) => driver.turnPage()) },
  {
    weight: 1,
    arbitrary: fc.tuple(plural, selected, fc.boolean()).map(
      (drawn): Step =>
        (driver) =>
          driver.watch(...drawn),
    ),
  },
  { weight: 6, arbitrary: fc.constant<Step>((driver) => driver.finishBatch(true)) },
  { weight: 1, arbitrary: fc.constant<Step>((driver) => driver.finishBatch(false)) },
);

/** Steps in the same turn of the event loop, as with concurrent callers. */
const turns = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 25 });

test('under random operations nothing revealed is lost, results match the model, and watches replay to the state', async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (drawn) => {
      const driver = await ModelDriver.start();
      for (const steps of drawn) {
        for (const each of steps) await each(driver);
        await driver.check();
      }
      await driver.end();
    }),
    { numRuns: 150 },
  );
});
