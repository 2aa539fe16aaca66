import type { StoredObject } from '../kinds/kind.ts';
import { age, ageColumn } from '../kinds/table-cells.ts';
import type { Snapshot } from '../registry/api.ts';
import type { Scale } from '../schema/generated/autoscaling-v1.ts';
import { type Rows, type TableForm, tableJson } from './table.ts';

/** A scale belongs to no kind of its own, but people look at it with `kubectl get --subresource=scale`. */
export function scaleTableJson(
  snapshot: Snapshot,
  metadata: object,
  form: TableForm & { readonly hasColumns: boolean },
): Uint8Array[] {
  return tableJson(scaleView, [snapshot], metadata, form);
}

const scaleView: Rows = {
  columns: [
    { name: 'Name', type: 'string' },
    { name: 'Desired', type: 'integer' },
    { name: 'Available', type: 'integer' },
    ageColumn,
  ],
  row(object: StoredObject, context) {
    const { spec, status } = object as unknown as Scale;
    return [object.metadata.name ?? '', spec?.replicas ?? 0, status?.replicas ?? 0, age(object, context)];
  },
};
