import { expect, test } from 'vitest';
import { routeOf } from './routes.ts';

test.each([
  ['', 'overview', ''],
  ['#/queue', 'queue', ''],
  ['#/pod/demo%2Fdb-0', 'pod', 'demo/db-0'],
  ['#/pod/demo/db-0', 'pod', 'demo/db-0'],
  // Cut in the middle of an escaped character.
  ['#/pod/demo%2', 'pod', 'demo%2'],
])('the address %j names a view', (hash, view, id) => {
  expect(routeOf(hash)).toEqual({ view, id });
});
