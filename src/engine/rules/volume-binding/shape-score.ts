import type { Shape } from '../../index/profile.ts';

/** Shape scores go to 10, node scores to 100. */
const scale = 10;

/** How good a utilization (in percent) is, from 0 to 100, on straight lines between the shape's points. */
export function shapeScore(shape: Shape, utilization: number): number {
  return alongShape(shape, utilization, (value) => value);
}

/** The same in whole numbers, rounding towards zero at each step, as kube-scheduler calculates. */
export function integerShapeScore(shape: Shape, utilization: number): number {
  return alongShape(shape, utilization, Math.trunc);
}

function alongShape(shape: Shape, utilization: number, round: (value: number) => number): number {
  const [first] = shape;
  if (first === undefined) return 0;
  if (utilization <= first.utilization) return first.score * scale;
  for (let position = 1; position < shape.length; position++) {
    const left = shape[position - 1]!;
    const right = shape[position]!;
    if (utilization > right.utilization) continue;
    const rise = (right.score - left.score) * scale * (utilization - left.utilization);
    return left.score * scale + round(rise / (right.utilization - left.utilization));
  }
  return shape.at(-1)!.score * scale;
}
