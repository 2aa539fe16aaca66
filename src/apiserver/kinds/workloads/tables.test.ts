import { expect, test } from 'vitest';
import { workloadKinds } from './index.ts';
import { expectSameTable, findKind, readTables } from './testing/tables.ts';

const tables = readTables(new URL('./testing/tables.ndjson', import.meta.url));

test.each(tables)('a real server describes and shows it the same: %s', (_name, table) => {
  expectSameTable(findKind(workloadKinds, table.object), table);
});

test('every kind is compared', () => {
  const compared = new Set(tables.map(([name]) => name));
  expect(compared.size).toBe(workloadKinds.length);
});
