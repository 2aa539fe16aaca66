import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { normalize } from '../../../schema/normalize.ts';
import type { Kind, StoredObject, TableCell, TableColumn } from '../../kind.ts';

/** What a real server says about a kind in its discovery, and how it shows an object of it. */
export interface RecordedTable {
  readonly resource: {
    readonly name: string;
    readonly singularName: string;
    readonly namespaced: boolean;
    readonly kind: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly subresources: readonly string[];
  readonly columns: readonly TableColumn[];
  readonly object: StoredObject;
  /** Null where a cell tells a time. */
  readonly cells: readonly TableCell[];
}

export function readTables(file: URL): readonly (readonly [name: string, table: RecordedTable])[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const tables = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RecordedTable);
  return tables.map((table) => [`${table.object.apiVersion} ${table.resource.kind}`, table]);
}

export function findKind(kinds: readonly Kind[], { apiVersion, kind }: StoredObject): Kind {
  const found = kinds.find(
    (one) =>
      one.kind === kind && apiVersion === (one.group === '' ? one.version : `${one.group}/${one.version}`),
  );
  if (!found) throw new Error(`there is no kind ${apiVersion} ${kind}`);
  return found;
}

/** `leftOut`: subresources that we do not serve. */
export function expectSameTable(kind: Kind, table: RecordedTable, leftOut: readonly string[] = []): void {
  const { shortNames, categories } = kind;
  expect({
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
  }).toEqual(table.resource);
  expect([...subresourcesOf(kind), ...leftOut].sort()).toEqual(table.subresources);
  expect(kind.columns).toEqual(table.columns);
  const object = normalize(kind.type, table.object).object as unknown as StoredObject;
  const cells = kind.row(object, { nowMs: 0 });
  expect(cells.map((cell, index) => (table.cells[index] === null ? null : cell))).toEqual(table.cells);
}

function subresourcesOf(kind: Kind): readonly string[] {
  return [
    ...(kind.hasStatus ? ['status'] : []),
    ...(kind.scale ? ['scale'] : []),
    ...(kind.subresources?.map(({ name }) => name) ?? []),
  ];
}
