import { segmentKeyOf, segmentOfKey, type TopologySegment } from './topology-segment.ts';

/** What a figure is about: a class (or `<ephemeral>`) in a topology segment. */
export interface FigureId {
  readonly storageClassName: string;
  readonly segment: TopologySegment;
}

/** The key of a figure in the work queue: equal for equal figures, so that the queue holds each only once. */
export function figureKeyOf({ storageClassName, segment }: FigureId): string {
  return `${storageClassName} ${segmentKeyOf(segment)}`;
}

/** The inverse of {@link figureKeyOf}: names of classes contain no space. */
export function figureOfKey(key: string): FigureId {
  const space = key.indexOf(' ');
  return { storageClassName: key.slice(0, space), segment: segmentOfKey(key.slice(space + 1)) };
}
