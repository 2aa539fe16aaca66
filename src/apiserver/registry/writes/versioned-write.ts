import { apiVersionOf } from '../../../kube/resource.ts';
import { resetFieldsOf } from '../../managed-fields/reset-fields.ts';
import type { Versioned } from '../../managed-fields/versions.ts';
import { type Mergeable, mergeShape } from '../../patch/merge-shape.ts';

interface WrittenKind extends Mergeable {
  readonly group: string;
  readonly version: string;
}

/** How this version of a kind, and the others for those who wrote through them, see a write. */
export function versionedWrite(kind: WrittenKind, hasStatus: boolean, subresource: string): Versioned {
  const resetFields = resetFieldsOf(kind.type, hasStatus, subresource);
  const asVersion: Versioned['asVersion'] = (apiVersion) => {
    const shape = kind.shapeOfVersion?.(apiVersion);
    // Outside of /status, Kubernetes knows only of the version at hand what a write cannot change.
    return shape === undefined
      ? undefined
      : { shape, resetFields: subresource === 'status' ? resetFields : undefined };
  };
  return { apiVersion: apiVersionOf(kind), shape: mergeShape(kind), resetFields, asVersion };
}
