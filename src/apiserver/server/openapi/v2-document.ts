import { jsonText } from '../../../kube/go/json-text.ts';
import { fairTurn } from '../../../runtime/fair-turn.ts';
import { WorkSlices } from '../../../runtime/work-slices.ts';
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

/** The fields of the document before and after its paths and definitions. */
export const v2Head = { swagger: '2.0', info: { title: 'Kubernetes', version: '1.36' } } as const;
export const v2Tail = {
  securityDefinitions: {
    BearerToken: {
      description: 'Bearer Token authentication',
      type: 'apiKey',
      name: 'authorization',
      in: 'header',
    },
  },
  security: [{ BearerToken: [] }],
} as const;

/** A path or a definition, as JSON. */
export interface V2Entry {
  readonly section: 'paths' | 'definitions';
  readonly name: string;
  readonly json: string;
}

/** How many kinds are read before other work gets a turn. */
const kindsPerTurn = 50;

/**
 * All served kinds in one OpenAPI 2 document, with as much of the version 3 documents as version 2 can express: the paths in their order,
 * then the definitions. A definition may have thousands of versions, so other work gets turns in between.
 */
export async function* v2Entries({ all }: Pick<KindCatalog, 'all'>): AsyncGenerator<V2Entry> {
  const schemas = new SchemaCollector(descriptionOf);
  const paths = new Map<string, OpenApiPathItem>();
  for (const [at, kind] of all.entries()) {
    for (const [path, item] of Object.entries(resourcePaths(kind, schemas))) paths.set(path, item);
    if (at % kindsPerTurn === kindsPerTurn - 1) await fairTurn();
  }
  for (const kind of reviewKinds)
    for (const [path, item] of Object.entries(reviewPaths(kind, schemas))) paths.set(path, item);
  const written = new Set<unknown>(all.map(({ definition }) => definition?.publishedSchema));
  const slices = new WorkSlices();
  for (const name of [...paths.keys()].sort()) {
    const json = jsonText(pathItemOf(paths.get(name)!));
    yield { section: 'paths', name, json };
    await slices.add(json.length);
  }
  for (const [name, schema] of Object.entries(schemas.schemas)) {
    const json = jsonText(written.has(schema) ? toV2CustomSchema(schema) : toV2Schema(schema));
    yield { section: 'definitions', name, json };
    await slices.add(json.length);
  }
}

export async function openApiV2Json(kinds: Pick<KindCatalog, 'all'>): Promise<Buffer> {
  const pieces = [Buffer.from(`${jsonText(v2Head).slice(0, -1)},"paths":{`)];
  let before: V2Entry | undefined;
  for await (const entry of v2Entries(kinds)) {
    if (before?.section === 'paths' && entry.section === 'definitions')
      pieces.push(Buffer.from('},"definitions":{'));
    else if (before !== undefined) pieces.push(comma);
    pieces.push(Buffer.from(`${JSON.stringify(entry.name)}:${entry.json}`));
    before = entry;
  }
  pieces.push(Buffer.from(`},${jsonText(v2Tail).slice(1)}`));
  return Buffer.concat(pieces);
}

const comma = Buffer.from(',');

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
