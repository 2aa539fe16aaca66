import { expect } from 'vitest';
import { normalize } from '../../schema/normalize.ts';
import type { ServedKind, StoredObject, TableCell, TableColumn } from '../served-kind.ts';

/** What kube-apiserver's discovery says about a kind, and how it prints an object of that kind. */
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
  /** Null for cells that show an age. */
  readonly cells: readonly TableCell[];
}

/** `notServed`: subresources of kube-apiserver that our server does not have. */
export function expectSameTable(
  kind: ServedKind,
  table: RecordedTable,
  notServed: readonly string[] = [],
): void {
  const { shortNames, categories } = kind;
  expect({
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
  }).toEqual(table.resource);
  expect([...subresourcesOf(kind), ...notServed].sort()).toEqual(table.subresources);
  expect(kind.columns).toEqual(table.columns);
  const object = normalize(kind.type, table.object).object as unknown as StoredObject;
  const cells = kind.row(object, { nowMs: 0 });
  expect(cells.map((cell, index) => (table.cells[index] === null ? null : cell))).toEqual(table.cells);
}

function subresourcesOf(kind: ServedKind): readonly string[] {
  return [
    ...(kind.hasStatus ? ['status'] : []),
    ...(kind.scale ? ['scale'] : []),
    ...(kind.subresources?.map(({ name }) => name) ?? []),
  ];
}
