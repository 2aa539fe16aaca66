import type { ServedKind } from '../kinds/served-kind.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** Fields of every object, with Kubernetes' descriptions, which `kubectl explain` shows. */
const everyObject = {
  apiVersion: {
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
    type: 'string',
  },
  kind: {
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
    type: 'string',
  },
  metadata: {
    description: `Standard object's metadata. More info: ${conventions}#metadata`,
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
  },
};

/**
 * The schema of a version for OpenAPI, completed by apiVersion, kind and metadata so that clients can validate and
 * explain whole objects.
 */
export function publishedSchema(
  schema: JsonSchema,
  { group, version, kind }: Pick<ServedKind, 'group' | 'version' | 'kind'>,
): Readonly<Record<string, unknown>> {
  return {
    ...schema,
    properties: { ...schema.properties, ...everyObject },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
}

/** What `kubectl explain` and clients read about the list type of a custom kind: kube-apiserver's texts. */
export function listDescriptions(
  { kind, plural }: Pick<ServedKind, 'kind' | 'plural'>,
  listKind: string,
): { readonly description: string; readonly fields: Readonly<Record<string, string>> } {
  return {
    description: `${listKind} is a list of ${kind}`,
    fields: {
      apiVersion: everyObject.apiVersion.description,
      items: `List of ${plural}. More info: ${conventions}`,
      kind: everyObject.kind.description,
      metadata: `Standard list metadata. More info: ${conventions}#types-kinds`,
    },
  };
}
