import type { Condition, KubeObject } from './meta.ts';

/** `apiextensions.k8s.io/v1`, cluster-scoped. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec?: CustomResourceDefinitionSpec;
  readonly status?: CustomResourceDefinitionStatus;
}

export interface CustomResourceDefinitionSpec {
  readonly group?: string;
  readonly scope?: 'Cluster' | 'Namespaced';
  readonly names?: CustomResourceNames;
  readonly versions?: readonly CustomResourceVersion[];
  readonly preserveUnknownFields?: boolean;
}

export interface CustomResourceNames {
  readonly plural?: string;
  readonly singular?: string;
  readonly kind?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CustomResourceVersion {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  /** An OpenAPI v3 structural schema; the code that validates against it parses it. */
  readonly schema?: { readonly openAPIV3Schema?: unknown };
  readonly subresources?: { readonly status?: object; readonly scale?: CustomResourceScale };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

export interface CustomResourceScale {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface PrinterColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface CustomResourceDefinitionStatus {
  readonly acceptedNames?: CustomResourceNames;
  readonly storedVersions?: readonly string[];
  readonly conditions?: readonly Condition[];
}
