import { apiVersionOf } from '../../../kube/resource.ts';
import { resetFieldsOf } from '../../managed-fields/reset-fields.ts';
import type { VersionedWrite } from '../../managed-fields/versions.ts';
import { type Mergeable, mergeShapeOf } from '../../patch/mergeable.ts';

interface WrittenKind extends Mergeable {
  readonly group: string;
  readonly version: string;
}

/** Describes a write in this version of a kind, and in the other versions that field managers may have used. */
export function versionedWrite(kind: WrittenKind, hasStatus: boolean, subresource: string): VersionedWrite {
  const resetFields = resetFieldsOf(kind.type, hasStatus, subresource);
  const asVersion: VersionedWrite['asVersion'] = (apiVersion) => {
    const shape = kind.shapeOfVersion?.(apiVersion);
    // Outside of /status, Kubernetes knows the fields that a write cannot change only for the current version.
    return shape === undefined
      ? undefined
      : { shape, resetFields: subresource === 'status' ? resetFields : undefined };
  };
  return { apiVersion: apiVersionOf(kind), shape: mergeShapeOf(kind), resetFields, asVersion };
}
