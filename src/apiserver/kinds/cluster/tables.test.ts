import { expect, test } from 'vitest';
import { expectSameTable, findKind, readTables } from '../workloads/testing/tables.ts';
import { clusterKinds } from './index.ts';

const tables = readTables(new URL('./testing/tables.ndjson', import.meta.url));

/** Proxying needs running pods. */
const notServed: Readonly<Record<string, readonly string[]>> = {
  services: ['proxy'],
};

test.each(tables)('a real server describes and shows it the same: %s', (_name, table) => {
  expectSameTable(findKind(clusterKinds, table.object), table, notServed[table.resource.name]);
});

test('every kind is compared', () => {
  const compared = new Set(tables.map(([name]) => name));
  expect(compared.size).toBe(clusterKinds.length);
});
