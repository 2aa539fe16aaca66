import type { CustomResourceColumnDefinition } from '../../kube/api/stored/apiextensions.ts';
import { formatGoJson } from '../../kube/go/json-text.ts';
import type { Json } from '../../kube/go/json-value.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import type { RowContext, StoredObject, TableCell, TableColumn } from '../kinds/served-kind.ts';
import { age, nameColumn, timeSince } from '../kinds/table-cells.ts';
import { parseJsonPath } from './json-path.ts';

export interface PrinterColumns {
  readonly columns: readonly TableColumn[];
  row(object: StoredObject, context: RowContext): readonly TableCell[];
}

/** The columns of `kubectl get`: the name and those of the definition, by default the age. */
export function printerColumns(defined: readonly CustomResourceColumnDefinition[] = []): PrinterColumns {
  if (defined.length === 0) {
    return {
      columns: [nameColumn, ageByDefault],
      row: (object, context) => [object.metadata.name ?? '', age(object, context)],
    };
  }
  const cells = defined.map(cellOf);
  return {
    columns: [nameColumn, ...defined.map(columnOf)],
    row: (object, context) => [object.metadata.name ?? '', ...cells.map((cell) => cell(object, context))],
  };
}

const ageByDefault: TableColumn = { name: 'Age', type: 'date' };

function columnOf(column: CustomResourceColumnDefinition): TableColumn {
  const { name, type, format, description, priority, jsonPath } = column;
  const text = description ?? '';
  return {
    name,
    type: type as TableColumn['type'],
    ...(format === undefined ? {} : { format }),
    description: text === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : text,
    ...(priority === undefined ? {} : { priority }),
  };
}

type Cell = (object: StoredObject, context: RowContext) => TableCell;

function cellOf({ type, jsonPath }: CustomResourceColumnDefinition): Cell {
  const path = parseJsonPath(jsonPath);
  return (object, context) => {
    const [value] = path?.find(object as unknown as Json) ?? [];
    return value === undefined ? null : shown(value, type, context);
  };
}

/** Values of another type are left out; string columns accept all values. */
function shown(value: Json, type: string, { nowMs }: RowContext): TableCell {
  switch (type) {
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? sinceOrInvalid(value, nowMs) : null;
    default:
      return textOf(value);
  }
}

function textOf(value: Json): string {
  if (value === null) return '<nil>';
  return typeof value === 'object' ? formatGoJson(withSortedKeysDeep(value)) : String(value);
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function sinceOrInvalid(text: string, nowMs: number): string {
  return timePattern.test(text) ? timeSince(text, nowMs) : '<invalid>';
}
