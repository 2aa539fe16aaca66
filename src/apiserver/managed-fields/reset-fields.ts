import { hasTable } from '../schema/type-table.ts';
import type { FieldSet } from './field-set.ts';
import { leaf } from './field-set.ts';

/**
 * The fields that a write to this resource (`''`) or subresource cannot change, whatever the request says, and so
 * cannot own. `type` is a name in the API tables; custom resources are in none.
 */
export function resetFieldsOf(type: string, hasStatus: boolean, subresource: string): FieldSet | undefined {
  if (!hasStatus) return undefined;
  if (subresource === 'status') return statusWrites[type] ?? (hasTable(type) ? specOnly : metadataAndSpec);
  return subresource === '' || subresource === 'finalize' ? statusOnly : undefined;
}

const statusOnly: FieldSet = { 'f:status': leaf };
const specOnly: FieldSet = { 'f:spec': leaf };
const metadataAndSpec: FieldSet = { 'f:metadata': leaf, 'f:spec': leaf };

/** Kinds whose status writes may change less of the metadata than usual. */
const statusWrites: Readonly<Record<string, FieldSet>> = {
  'core/v1.Pod': {
    'f:metadata': { 'f:deletionTimestamp': leaf, 'f:ownerReferences': leaf },
    'f:spec': leaf,
  },
  'apps/v1.Deployment': { 'f:metadata': { 'f:labels': leaf }, 'f:spec': leaf },
  'storage.k8s.io/v1.VolumeAttachment': metadataAndSpec,
  'resource.k8s.io/v1.ResourceClaim': metadataAndSpec,
};
