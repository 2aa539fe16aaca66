import { expect, test } from 'vitest';
import { servedCatalogue } from '../../src/apiserver/kinds/served-kinds.ts';
import { reviewKinds } from '../../src/apiserver/server/routing/review-kinds.ts';
import { apiVersionOf } from '../../src/kube/resource.ts';
import { corpus } from './corpus/index.ts';
import { namespaceOf } from './play.ts';
import { isServed } from './served.ts';

const scenarios = Object.values(corpus).flat();

test('every kind that is served is compared', () => {
  const kinds = [...servedCatalogue().all, ...reviewKinds];
  expect(
    kinds.filter((kind) => !isServed(apiVersionOf(kind), kind.plural)).map(({ plural }) => plural),
  ).toEqual([]);
});

test('every kind that is stored is led from creation to deletion', () => {
  const lives = new Set(scenarios.map(({ name }) => name));
  const missing = servedCatalogue().all.filter(
    (kind) => !lives.has(`${kind.kind} of ${apiVersionOf(kind)}, from creation to deletion`),
  );
  expect(missing.map(({ plural }) => plural)).toEqual([]);
});

test('scenarios have names and namespaces of their own', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  expect(new Set(scenarios.map(namespaceOf)).size).toBe(scenarios.length);
});
