import type { PersistentVolumeClaim } from './api/core.ts';
import type { StringMap } from './api/meta.ts';
import { annotations } from './well-known.ts';
import { isRecord, lookUp } from './wire.ts';

/** The value of the annotation `stowage.dev/fitting-topology`. */
export interface FittingTopology {
  /** The selected node that it belongs to: another scheduler may select another node, and leave the annotation. */
  readonly node: string;
  /** Labels with their values; the segment of the node is the first. */
  readonly segments: readonly StringMap[];
}

/** Segments with long labels are left out after this many bytes: all annotations of an object together may have 256 KiB. */
const textBytesMax = 4096;
const segmentsMax = 128;

/** As JSON. Segments beyond the limit are left out: then the driver has fewer to choose from, and all of them fit. */
export function fittingTopologyText({ node, segments }: FittingTopology): string | undefined {
  let kept = segments;
  let text = JSON.stringify({ node, segments: kept });
  while (text.length > textBytesMax && kept.length > 1) {
    kept = kept.slice(0, Math.ceil(kept.length / 2));
    text = JSON.stringify({ node, segments: kept });
  }
  return text.length > textBytesMax ? undefined : text;
}

/** Undefined if a scheduler that does not record them selected the node, or if the annotation cannot be read: users can change it. */
export function fittingSegmentsOf(
  { metadata }: PersistentVolumeClaim,
  selectedNode: string | undefined,
): readonly StringMap[] | undefined {
  const value = parsed(lookUp(metadata?.annotations, annotations.fittingTopology));
  if (!isRecord(value) || value.node !== selectedNode || !Array.isArray(value.segments)) return undefined;
  const { segments } = value;
  const isUsable = segments.length > 0 && segments.length <= segmentsMax && segments.every(isSegment);
  return isUsable ? segments : undefined;
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSegment(value: unknown): value is StringMap {
  return isRecord(value) && Object.values(value).every((one) => typeof one === 'string');
}
