import type { UtilizationShape } from '../../cluster-index/profile.ts';

/** Shape scores go to 10, node scores to 100. */
const scale = 10;

/** The score of a utilization (in percent), from 0 to 100, by linear interpolation between a shape's points. Prepared for frequent calls. */
export class ShapeLines {
  readonly #utilizations: Float64Array;
  readonly #scores: Float64Array;
  /** The slope of the line that ends in each point. */
  readonly #slopes: Float64Array;

  constructor(shape: UtilizationShape) {
    this.#utilizations = Float64Array.from(shape, ({ utilization }) => utilization);
    this.#scores = Float64Array.from(shape, ({ score }) => score * scale);
    this.#slopes = Float64Array.from(shape, ({ utilization, score }, position) => {
      const before = shape[position - 1];
      return before === undefined ? 0 : ((score - before.score) * scale) / (utilization - before.utilization);
    });
  }

  at(utilization: number): number {
    const last = this.#utilizations.length - 1;
    let end = 0;
    while (end < last && utilization > this.#utilizations[end]!) end += 1;
    const ahead = Math.max(0, this.#utilizations[end]! - utilization);
    return this.#scores[end]! - this.#slopes[end]! * ahead;
  }
}

/** The same in whole numbers, rounded towards zero as by kube-scheduler's integer division. */
export function integerShapeScore(shape: UtilizationShape, utilization: number): number {
  const end = shape.findIndex((point) => utilization <= point.utilization);
  if (end < 0) return (shape.at(-1)?.score ?? 0) * scale;
  const right = shape[end]!;
  const left = shape[end - 1];
  if (left === undefined) return right.score * scale;
  const rise = (right.score - left.score) * scale * (utilization - left.utilization);
  return left.score * scale + Math.trunc(rise / (right.utilization - left.utilization));
}
