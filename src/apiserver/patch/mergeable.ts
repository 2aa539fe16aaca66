import type { StructShape } from './merge-shape.ts';
import { shapeOfType } from './type-shapes.ts';

/** A kind that states how its objects merge: by a type of the API tables, or by a shape of its own. */
export interface Mergeable {
  readonly type: string;
  readonly shape?: StructShape | undefined;
  /**
   * The shapes of the other versions of the kind, if it has several; undefined for a version that the kind does not
   * have.
   */
  readonly shapeOfVersion?: ((apiVersion: string) => StructShape | undefined) | undefined;
}

export function mergeShapeOf({ type, shape }: Mergeable): StructShape {
  return shape ?? shapeOfType(type);
}
