import { expect, test } from 'vitest';
import { expectSameTable, findKind, readTables } from '../workloads/testing/tables.ts';
import { storedOnlyKinds } from './index.ts';

const tables = readTables(new URL('./testing/tables.ndjson', import.meta.url));

test.each(tables)('a real server describes and shows it the same: %s', (_name, table) => {
  expectSameTable(findKind(storedOnlyKinds, table.object), table);
});

test('every kind is compared', () => {
  const compared = new Set(tables.map(([name]) => name));
  expect(compared.size).toBe(storedOnlyKinds.length);
});
