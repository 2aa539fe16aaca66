import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../../src/apiserver/kinds/built-in-kinds.ts';
import { reviewKinds } from '../../src/apiserver/server/routing/review-kinds.ts';
import { apiVersionOf } from '../../src/kube/resource.ts';
import { corpus } from './corpus/index.ts';
import { namespaceOf } from './play.ts';
import { isServed } from './served.ts';

const scenarios = Object.values(corpus).flat();

test('the scenarios compare every served kind', () => {
  const kinds = [...builtInKindCatalog().all, ...reviewKinds];
  expect(
    kinds.filter((kind) => !isServed(apiVersionOf(kind), kind.plural)).map(({ plural }) => plural),
  ).toEqual([]);
});

test('the scenarios create and delete an object of every stored kind', () => {
  const names = new Set(scenarios.map(({ name }) => name));
  const missing = builtInKindCatalog().all.filter(
    (kind) => !names.has(`${kind.kind} of ${apiVersionOf(kind)}, from creation to deletion`),
  );
  expect(missing.map(({ plural }) => plural)).toEqual([]);
});

test('the names and namespaces of scenarios are unique', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  expect(new Set(scenarios.map(namespaceOf)).size).toBe(scenarios.length);
});
