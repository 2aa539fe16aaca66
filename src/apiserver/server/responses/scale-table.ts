import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import { scaleColumns, scaleRow } from '../../kinds/autoscaling/scale.ts';
import type { ObjectSnapshot } from '../../registry/registry.ts';
import { type TableFormat, type TableSource, tableJson } from './table.ts';

/** The table for `kubectl get --subresource=scale`. Scale is not a served kind with columns of its own. */
export function scaleTableJson(
  snapshot: ObjectSnapshot,
  metadata: object,
  format: TableFormat & { readonly hasColumns: boolean },
): Uint8Array[] {
  return tableJson(scaleView, [snapshot], metadata, format);
}

const scaleView: TableSource = {
  columns: scaleColumns,
  row: (object, context) => scaleRow(object as unknown as Scale, context),
};
