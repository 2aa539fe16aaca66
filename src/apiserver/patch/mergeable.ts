import type { StructShape } from './merge-shape.ts';
import { shapeOfType } from './type-shapes.ts';

/** Whatever says how its objects merge: by a type of the API tables, or by a shape of its own. */
export interface Mergeable {
  readonly type: string;
  readonly shape?: StructShape | undefined;
  /** How other versions of the same kind merge, where there are such; undefined for what is no version of it. */
  readonly shapeOfVersion?: ((apiVersion: string) => StructShape | undefined) | undefined;
}

export function mergeShapeOf({ type, shape }: Mergeable): StructShape {
  return shape ?? shapeOfType(type);
}
