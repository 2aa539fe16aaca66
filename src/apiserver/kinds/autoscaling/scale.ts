import type { Scale } from '../../../kube/api/stored/autoscaling.ts';
import type { LabelSelector } from '../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import type { RowContext, ScaleValues, TableCell, TableColumn } from '../served-kind.ts';
import { age, ageColumn, labelSelectorCell, noneCell } from '../table-cells.ts';

/** Validates the body of `/scale`, without its metadata. */
export function checkScale({ spec }: Scale, errors: FieldErrors): void {
  checkNonNegative(errors, 'spec.replicas', spec.replicas ?? 0);
}

/** The scale of a workload. */
export function scaleOf(
  desired: number | undefined,
  current: number,
  selector: LabelSelector | null | undefined,
): ScaleValues {
  const text = labelSelectorCell(selector ?? undefined);
  return { desired: desired ?? 0, current, selector: text === noneCell ? '' : text };
}

export const scaleColumns: readonly TableColumn[] = [
  { name: 'Name', type: 'string' },
  { name: 'Desired', type: 'integer' },
  { name: 'Available', type: 'integer' },
  ageColumn,
];

export function scaleRow(scale: Scale, context: RowContext): readonly TableCell[] {
  return [scale.metadata.name ?? '', scale.spec.replicas ?? 0, scale.status.replicas, age(scale, context)];
}
