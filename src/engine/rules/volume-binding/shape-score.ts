import type { Shape } from '../../index/profile.ts';

/** Shape scores go to 10, node scores to 100. */
const scale = 10;

/** How good a utilization (in percent) is, from 0 to 100, on straight lines between the shape's points. */
export function shapeScore(shape: Shape, utilization: number): number {
  const segment = segmentOf(shape, utilization);
  if (segment <= 0) return shape.length === 0 ? 0 : shape[0]!.score * scale;
  if (segment === shape.length) return shape[segment - 1]!.score * scale;
  return shape[segment - 1]!.score * scale + riseAlong(shape, segment, utilization);
}

/** The same in whole numbers, rounding towards zero as kube-scheduler's integer division does. */
export function integerShapeScore(shape: Shape, utilization: number): number {
  const segment = segmentOf(shape, utilization);
  if (segment <= 0 || segment === shape.length) return shapeScore(shape, utilization);
  return shape[segment - 1]!.score * scale + Math.trunc(riseAlong(shape, segment, utilization));
}

/** The position of the first point at or behind the utilization; the shape's length if it is behind them all. */
function segmentOf(shape: Shape, utilization: number): number {
  let position = 0;
  while (position < shape.length && utilization > shape[position]!.utilization) position += 1;
  return position;
}

function riseAlong(shape: Shape, segment: number, utilization: number): number {
  const left = shape[segment - 1]!;
  const right = shape[segment]!;
  return (
    ((right.score - left.score) * scale * (utilization - left.utilization)) /
    (right.utilization - left.utilization)
  );
}
