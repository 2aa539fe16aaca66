import type { ServedKind } from '../kinds/served-kind.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

const everyObject = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
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
