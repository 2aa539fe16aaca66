import { expectTypeOf, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import type { Fresh, Projected, ResourceClient } from './cluster.ts';

// The compiler checks these, in `npm run check`.
test('an object from a cache can be read as its kind, and cannot be written', () => {
  type Written = Parameters<ResourceClient<Pod>['update']>[0];
  expectTypeOf<Projected<Pod>>().toExtend<Pod>();
  expectTypeOf<Projected<Pod>>().not.toExtend<Written>();
  expectTypeOf<Projected<Pod>>().not.toExtend<Parameters<ResourceClient<Pod>['create']>[0]>();
  expectTypeOf<Projected<Pod> & { metadata: { name: string } }>().not.toExtend<Fresh<Pod>>();
  expectTypeOf<Pod>().toExtend<Written>();
});
