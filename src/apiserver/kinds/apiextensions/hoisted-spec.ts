import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from '../../../kube/api/stored/apiextensions.ts';
import { jsonText } from '../../../kube/go/json-text.ts';

/**
 * A spec in Kubernetes' internal form: fields that are equal in all versions move from the versions to the top level. This
 * is visible in error paths, such as `spec.validation.openAPIV3Schema` for the schema of an only version.
 */
export interface HoistedSpec {
  readonly spec: CustomResourceDefinitionSpec;
  /** Null or empty if it was sent so: errors print it. */
  readonly versions: readonly CustomResourceDefinitionVersion[] | null;
  readonly validation: CustomResourceValidation | undefined;
  readonly subresources: CustomResourceSubresources | undefined;
  readonly columns: readonly CustomResourceColumnDefinition[];
  readonly selectableFields: readonly SelectableField[];
}

type PerVersion = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';

const perVersion: readonly PerVersion[] = [
  'schema',
  'subresources',
  'additionalPrinterColumns',
  'selectableFields',
];

export function hoistSpec(spec: CustomResourceDefinitionSpec): HoistedSpec {
  const versions = spec.versions ?? [];
  const common = new Set(perVersion.filter((field) => isSameInAll(versions, field)));
  const first = versions[0];
  return {
    spec,
    versions: spec.versions === null ? null : versions.map((version) => without(version, common)),
    validation: common.has('schema') ? first?.schema : undefined,
    subresources: common.has('subresources') ? first?.subresources : undefined,
    columns: (common.has('additionalPrinterColumns') ? first?.additionalPrinterColumns : undefined) ?? [],
    selectableFields: (common.has('selectableFields') ? first?.selectableFields : undefined) ?? [],
  };
}

/** Specs are canonical here, so equal values have equal JSON. */
function isSameInAll(versions: readonly CustomResourceDefinitionVersion[], field: PerVersion): boolean {
  const texts = new Set(versions.map((version) => jsonText(version[field])));
  return texts.size === 1;
}

function without(
  version: CustomResourceDefinitionVersion,
  common: ReadonlySet<PerVersion>,
): CustomResourceDefinitionVersion {
  const rest = { ...version };
  for (const field of common) delete rest[field];
  return rest;
}
