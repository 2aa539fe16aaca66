import type { KindCatalogue } from '../../kinds/kind-catalog.ts';
import { reviewKinds } from '../routing/review-kinds.ts';
import {
  type Method,
  type Operation,
  type Parameter,
  type PathItem,
  pathsOf,
  reviewPathsOf,
} from './paths.ts';
import { type Schema, SchemaCollector } from './schemas.ts';
import { customDefinitionOf, definitionOf } from './v2-schemas.ts';

/** All that is served, in one document of OpenAPI 2. It says what the documents of version 3 say, as far as it can. */
export function openApiV2Document({ all }: KindCatalogue): Schema {
  const schemas = new SchemaCollector();
  const paths: Record<string, PathItem> = Object.assign(
    {},
    ...all.map((kind) => pathsOf(kind, schemas)),
    ...reviewKinds.map((kind) => reviewPathsOf(kind, schemas)),
  );
  const written = new Set<unknown>(all.map(({ definition }) => definition?.published));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: Object.fromEntries(
      Object.keys(paths)
        .sort()
        .map((path) => [path, pathItemOf(paths[path] as PathItem)]),
    ),
    definitions: Object.fromEntries(
      Object.entries(schemas.schemas).map(([name, schema]) => [
        name,
        written.has(schema) ? customDefinitionOf(schema) : definitionOf(schema),
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

const methods: readonly Method[] = ['get', 'put', 'post', 'delete', 'patch'];

function pathItemOf(item: PathItem): Schema {
  const operations: Record<string, Schema> = {};
  for (const method of methods) {
    const operation = item[method];
    if (operation !== undefined) operations[method] = operationOf(operation);
  }
  return { ...operations, parameters: item.parameters.map(parameterOf) };
}

function operationOf({ parameters, requestBody, responses, ...extensions }: Operation): Schema {
  const consumes = Object.keys(requestBody?.content ?? { '*/*': {} });
  return {
    consumes,
    produces: Object.keys(responses['200']?.content ?? {}),
    schemes: ['https'],
    parameters: [...bodyOf(requestBody), ...parameters.map(parameterOf)],
    responses: Object.fromEntries(Object.entries(responses).map(([code, each]) => [code, responseOf(each)])),
    ...extensions,
  };
}

function bodyOf(body: Operation['requestBody']): readonly Schema[] {
  const [content] = Object.values(body?.content ?? {});
  if (body === undefined || content === undefined) return [];
  return [{ name: 'body', in: 'body', required: body.required, schema: definitionOf(content.schema) }];
}

function parameterOf({ schema, ...where }: Parameter): Schema {
  return { ...where, ...schema };
}

function responseOf({ description, content }: Operation['responses'][string]): Schema {
  const [first] = Object.values(content ?? {});
  return { description, ...(first === undefined ? {} : { schema: definitionOf(first.schema) }) };
}
