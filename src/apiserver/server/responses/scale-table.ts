import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import { scaleColumns, scaleRow } from '../../kinds/autoscaling/scale.ts';
import type { Snapshot } from '../../registry/registry.ts';
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
  columns: scaleColumns,
  row: (object, context) => scaleRow(object as unknown as Scale, context),
};
