import { describe, expect, test } from 'vitest';
import { apiVersionOf } from '../../kube/resource.ts';
import { builtInKindCatalog } from './built-in-kinds.ts';
import type { ServedKind, StoredObject, TableCell, TableColumn } from './served-kind.ts';
import { expectSameTable, type RecordedTable } from './testing/recorded-tables.ts';
import { readObject } from './testing/recorded-writes.ts';
import { readRecordings } from './testing/recordings.ts';

/** An object and its table row, as kube-apiserver printed it at `nowMs`. */
interface RecordedRow {
  readonly name: string;
  readonly object: StoredObject;
  readonly nowMs: number;
  readonly columns: readonly TableColumn[];
  readonly cells: readonly TableCell[];
}

/** Proxying needs running pods. */
const notServed: Readonly<Record<string, readonly string[]>> = {
  services: ['proxy'],
};

const catalog = builtInKindCatalog();
const tables = readRecordings<RecordedTable>('tables.ndjson').flatMap(({ lines }) => lines);
const rows = readRecordings<RecordedRow>('rows.ndjson');

test.each(tables.map((table) => [`${table.object.apiVersion} ${table.resource.kind}`, table] as const))(
  'discovery describes and tables show %s as kube-apiserver does',
  (_name, table) => {
    expectSameTable(kindOf(table.object), table, notServed[table.resource.name]);
  },
);

describe.each(rows.map(({ folder, lines }) => [folder, lines] as const))(
  'tables show %s as kube-apiserver does',
  (_folder, lines) => {
    test.each(lines)('$name', ({ object, nowMs, columns, cells }) => {
      const kind = kindOf(object);
      expect(kind.columns).toEqual(columns);
      expect(kind.row(readObject(kind, object), { nowMs })).toEqual(cells);
    });
  },
);

test('every built-in kind is compared', () => {
  const objects = [...tables, ...rows.flatMap(({ lines }) => lines)].map(({ object }) => object);
  const compared = new Set(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const missing = catalog.all.filter((kind) => !compared.has(`${apiVersionOf(kind)} ${kind.kind}`));
  expect(missing.map(({ kind }) => kind)).toEqual([
    'Role',
    'ClusterRole',
    'RoleBinding',
    'ClusterRoleBinding',
    'CustomResourceDefinition',
  ]);
});

function kindOf({ apiVersion, kind: name }: StoredObject): ServedKind {
  const kind = catalog.byKind(apiVersion, name);
  if (kind === undefined) throw new Error(`there is no kind ${apiVersion} ${name}`);
  return kind;
}
