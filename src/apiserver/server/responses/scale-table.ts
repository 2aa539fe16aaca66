import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import { scaleColumns, scaleRow } from '../../kinds/autoscaling/scale.ts';
import type { ObjectSnapshot } from '../../registry/registry.ts';
import { type TableFormat, type TableSource, tableJson } from './table.ts';

/** A scale belongs to no kind of its own, but people look at it with `kubectl get --subresource=scale`. */
export function scaleTableJson(
  snapshot: ObjectSnapshot,
  metadata: object,
  form: TableFormat & { readonly hasColumns: boolean },
): Uint8Array[] {
  return tableJson(scaleView, [snapshot], metadata, form);
}

const scaleView: TableSource = {
  columns: scaleColumns,
  row: (object, context) => scaleRow(object as unknown as Scale, context),
};
