import type { CSIVolumeSource } from './api/core.ts';
import { parseQuantity, type Quantity } from './quantities/quantity.ts';

/** The volume attribute that carries the size of an inline volume on clusters whose API server has no field `fsSize`, and to the driver. */
export const inlineSizeAttribute = 'csi.storage.k8s.io/size';

export interface InlineVolumeSize {
  /** Undefined if the volume states no size, which is not the same as zero, or none that can be read. */
  readonly quantity: Quantity | undefined;
  readonly problems: readonly string[];
}

/**
 * The size of an inline CSI volume: the field `fsSize`, or the volume attribute `csi.storage.k8s.io/size`, of which an empty text counts as
 * absent. The attributes that a driver has defined for itself are not read.
 */
export function inlineVolumeSize(csi: CSIVolumeSource, field: string): InlineVolumeSize {
  const attribute: unknown = csi.volumeAttributes?.[inlineSizeAttribute] || undefined;
  const hasField = csi.fsSize !== undefined && csi.fsSize !== null;
  const attributeField = `${field}.volumeAttributes[${inlineSizeAttribute}]`;
  const problems =
    hasField && attribute !== undefined ? [`${field}.fsSize and ${attributeField}: ${bothSet}`] : [];
  if (!hasField && attribute === undefined) return { quantity: undefined, problems };
  const size = hasField ? csi.fsSize : attribute;
  const sizeField = hasField ? `${field}.fsSize` : attributeField;
  const parsed = parseQuantity(size, sizeField);
  if (!parsed.ok) return { quantity: undefined, problems: [...problems, parsed.problem] };
  if (parsed.quantity.amount >= 0) return { quantity: parsed.quantity, problems };
  const problem = `${sizeField}: ${JSON.stringify(size)} is negative; must be zero or more`;
  return { quantity: undefined, problems: [...problems, problem] };
}

const bothSet = 'both set the size of the volume; remove one of them';
