import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsWithoutOwner } from '../managed-fields/update-managers.ts';
import '../../../test/property-seed.ts';
import { ApiError } from '../../kube/api-error.ts';
import { seededRandom } from '../../runtime/random.ts';
import { difference, intersection, isEmptySet } from '../managed-fields/field-set.ts';
import { appliedFields } from './applied-fields.ts';
import { Applier, appliedCustomKind, builtInKind } from './testing/applier.ts';
import { randomKinds } from './testing/more-random-kinds.ts';

const arbCase = fc.record({ number: fc.nat(), seed: fc.nat() });

describe.each([
  {
    of: 'built-in kinds',
    kindOf: (number: number) => builtInKind(randomKinds[number % randomKinds.length]!),
  },
  { of: 'custom kinds', kindOf: appliedCustomKind },
])('applying a configuration of $of', ({ of, kindOf }) => {
  test('changes nothing the second time, and owns the fields that it names', () => {
    fc.assert(
      fc.property(arbCase, ({ number, seed }) => {
        const kind = kindOf(number);
        const random = seededRandom(seed);
        const object = new Applier(kind);
        object.apply('one', object.draw(random));
        object.apply('two', object.draw(random));
        const config = object.draw(random);
        object.apply('one', config);
        const [before, owners] = [object.live, object.owners];
        object.apply('one', config);
        expect(object.live).toEqual(before);
        expect(object.owners).toEqual(owners);
        const named = difference(appliedFields(config, object.shape), fieldsWithoutOwner);
        expect(owners.get('one') ?? {}).toEqual(named);
      }),
    );
  });

  test('has the same result in any order, for appliers without common fields', () => {
    fc.assert(
      fc.property(arbCase, ({ number, seed }) => {
        const kind = kindOf(number);
        const random = seededRandom(seed);
        const [one, two] = [new Applier(kind), new Applier(kind)];
        const [a, b] = [one.draw(random), one.draw(random)];
        const common = intersection(appliedFields(a, one.shape), appliedFields(b, one.shape));
        fc.pre(isEmptySet(difference(common, fieldsWithoutOwner)));
        one.apply('a', a, false);
        one.apply('b', b, false);
        two.apply('b', b, false);
        two.apply('a', a, false);
        expect(one.unordered).toEqual(two.unordered);
        expect(one.owners).toEqual(two.owners);
      }),
    );
  });

  test('leaves nothing behind if the applier no longer applies any field', () => {
    fc.assert(
      fc.property(arbCase, ({ number, seed }) => {
        const kind = kindOf(number);
        const random = seededRandom(seed);
        const [object, untouched] = [new Applier(kind), new Applier(kind)];
        object.apply('one', object.draw(random));
        object.apply('one', object.draw(random));
        object.apply('one', object.typeMeta);
        expect(object.unordered).toEqual(untouched.unordered);
        expect(object.owners.size).toBe(0);
      }),
    );
  });

  test('removes exactly the fields that no other manager owns if the applier no longer applies any field', () => {
    fc.assert(
      fc.property(arbCase, ({ number, seed }) => {
        const kind = kindOf(number);
        const random = seededRandom(seed);
        const [both, alone] = [new Applier(kind), new Applier(kind)];
        const [a, b] = [both.draw(random), both.draw(random)];
        const common = intersection(appliedFields(a, both.shape), appliedFields(b, both.shape));
        fc.pre(isEmptySet(difference(common, fieldsWithoutOwner)));
        both.apply('a', a);
        both.apply('b', b);
        both.apply('a', both.typeMeta);
        alone.apply('b', b);
        expect(both.unordered).toEqual(alone.unordered);
        expect(both.owners).toEqual(alone.owners);
      }),
    );
  });

  test('is refused exactly if force would take a field from another manager', () => {
    fc.assert(
      fc.property(arbCase, ({ number, seed }) => {
        const kind = kindOf(number);
        const random = seededRandom(seed);
        const [gentle, forced] = [new Applier(kind), new Applier(kind)];
        const [a, b] = [gentle.draw(random), gentle.draw(random)];
        for (const object of [gentle, forced]) object.apply('a', a);
        const before = forced.owners.get('a');
        forced.apply('b', b);
        const isTaken = JSON.stringify(forced.owners.get('a')) !== JSON.stringify(before);
        const refused = isRefused(() => gentle.apply('b', b, false));
        // A value of any type changes its type without a conflict.
        if (of === 'built-in kinds' || refused) expect(refused).toBe(isTaken);
      }),
    );
  });
});

function isRefused(apply: () => unknown): boolean {
  try {
    apply();
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.code === 409) return true;
    throw error;
  }
}
