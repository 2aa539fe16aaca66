import type { KindCatalog } from '../../kinds/kind-catalog.ts';
import { reviewKinds } from '../routing/review-kinds.ts';
import { descriptionOf } from './descriptions.ts';
import {
  type OpenApiMethod,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiPathItem,
  resourcePaths,
  reviewPaths,
} from './paths.ts';
import { type OpenApiSchema, SchemaCollector } from './schemas.ts';
import { toV2CustomSchema, toV2Schema } from './v2-schemas.ts';

/** All served kinds in one OpenAPI 2 document, with as much of the version 3 documents as version 2 can express. */
export function openApiV2Document({ all }: KindCatalog): OpenApiSchema {
  const schemas = new SchemaCollector(descriptionOf);
  const paths: Record<string, OpenApiPathItem> = Object.assign(
    {},
    ...all.map((kind) => resourcePaths(kind, schemas)),
    ...reviewKinds.map((kind) => reviewPaths(kind, schemas)),
  );
  const written = new Set<unknown>(all.map(({ definition }) => definition?.publishedSchema));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: Object.fromEntries(
      Object.keys(paths)
        .sort()
        .map((path) => [path, pathItemOf(paths[path] as OpenApiPathItem)]),
    ),
    definitions: Object.fromEntries(
      Object.entries(schemas.schemas).map(([name, schema]) => [
        name,
        written.has(schema) ? toV2CustomSchema(schema) : toV2Schema(schema),
      ]),
    ),
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

const methods: readonly OpenApiMethod[] = ['get', 'put', 'post', 'delete', 'patch'];

function pathItemOf(item: OpenApiPathItem): OpenApiSchema {
  const operations: Record<string, OpenApiSchema> = {};
  for (const method of methods) {
    const operation = item[method];
    if (operation !== undefined) operations[method] = operationOf(operation);
  }
  return { ...operations, parameters: item.parameters.map(parameterOf) };
}

function operationOf({ requestBody, responses, ...operation }: OpenApiOperation): OpenApiSchema {
  const { parameters: given = [], ...extensions } = operation;
  const consumes = Object.keys(requestBody?.content ?? { '*/*': {} });
  const parameters = [...bodyOf(requestBody), ...given.map(parameterOf)];
  return {
    consumes,
    produces: Object.keys(responses['200']?.content ?? {}),
    schemes: ['https'],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries(Object.entries(responses).map(([code, each]) => [code, responseOf(each)])),
    ...extensions,
  };
}

function bodyOf(body: OpenApiOperation['requestBody']): readonly OpenApiSchema[] {
  const [content] = Object.values(body?.content ?? {});
  if (body === undefined || content === undefined) return [];
  return [{ name: 'body', in: 'body', required: body.required, schema: toV2Schema(content.schema) }];
}

function parameterOf({ schema, ...where }: OpenApiParameter): OpenApiSchema {
  return { ...where, ...schema };
}

function responseOf({ description, content }: OpenApiOperation['responses'][string]): OpenApiSchema {
  const [first] = Object.values(content ?? {});
  return { description, ...(first === undefined ? {} : { schema: toV2Schema(first.schema) }) };
}
