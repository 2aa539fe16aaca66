import { apiVersionOf } from '../../../kube/resource.ts';
import type { RequestVerb, ServedKind } from '../../kinds/served-kind.ts';
import type { ReviewKind } from '../routing/review-kinds.ts';
import { resourceVerbs, subresourceVerbs } from '../routing/verbs.ts';
import type { OpenApiSchema, SchemaCollector } from './schemas.ts';

/** Operations by method, and the parameters that all of them take. */
export type OpenApiPathItem = Readonly<Partial<Record<OpenApiMethod, OpenApiOperation>>> & {
  readonly parameters: readonly OpenApiParameter[];
};

export type OpenApiMethod = 'delete' | 'get' | 'patch' | 'post' | 'put';

export interface OpenApiOperation {
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content: Content; readonly required: boolean };
  /** Responses by status code. */
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': Gvk;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: { readonly type: string; readonly uniqueItems: boolean };
}

/** Schemas by media type. */
type Content = Readonly<Record<string, { readonly schema: OpenApiSchema }>>;

/** The OpenAPI paths of a kind. Clients look for the parameters and patch types of an operation, and for its kind. */
export function resourcePaths(kind: ServedKind, schemas: SchemaCollector): Record<string, OpenApiPathItem> {
  const about = { group: kind.group, version: kind.version, kind: kind.kind };
  const object = schemas.ofKind(kind);
  const facts = { about, object, list: schemas.listOf(kind), patchTypes: patchTypesOf(kind) };
  const base = basePath(kind);
  const own = kind.namespaced ? `${base}/namespaces/{namespace}/${kind.plural}` : `${base}/${kind.plural}`;
  const verbs = resourceVerbs(kind);
  const scope = kind.namespaced ? [pathParameter('namespace')] : [];
  const named = [pathParameter('name'), ...scope];
  const paths: Record<string, OpenApiPathItem> = {
    [own]: pathItem(['list', 'create', 'deletecollection'], verbs, {
      ...facts,
      parameters: scope,
    }),
    [`${own}/{name}`]: pathItem(['get', 'update', 'patch', 'delete'], verbs, {
      ...facts,
      parameters: named,
    }),
  };
  if (kind.namespaced) {
    paths[`${base}/${kind.plural}`] = pathItem(['list'], verbs, { ...facts, parameters: [] });
  }
  for (const part of openApiSubresources(kind)) {
    const whole = part.type === kind.type ? object : schemas.reference(part.type);
    paths[`${own}/{name}/${part.name}`] = pathItem(allVerbs, subresourceVerbs(kind, part.name), {
      ...facts,
      about: part.about,
      object: whole,
      parameters: named,
    });
  }
  return paths;
}

export function reviewPaths(kind: ReviewKind, schemas: SchemaCollector): Record<string, OpenApiPathItem> {
  const { group, version, plural, namespaced } = kind;
  const object = schemas.reference(kind.type);
  const scope = namespaced ? 'namespaces/{namespace}/' : '';
  const parameters = namespaced ? [pathParameter('namespace')] : [];
  const facts = {
    about: { group, version, kind: kind.kind },
    object,
    list: object,
    parameters,
    patchTypes: [],
  };
  return { [`/apis/${group}/${version}/${scope}${plural}`]: pathItem(['create'], ['create'], facts) };
}

function basePath({ group, version }: Pick<ServedKind, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface PathFacts {
  readonly about: Gvk;
  readonly object: OpenApiSchema;
  readonly list: OpenApiSchema;
  readonly parameters: readonly OpenApiParameter[];
  readonly patchTypes: readonly string[];
}

const allVerbs: readonly RequestVerb[] = ['get', 'create', 'update', 'patch', 'delete'];

const methods: Readonly<
  Record<Exclude<RequestVerb, 'watch'>, { readonly method: OpenApiMethod; readonly action: string }>
> = {
  create: { method: 'post', action: 'post' },
  delete: { method: 'delete', action: 'delete' },
  deletecollection: { method: 'delete', action: 'deletecollection' },
  get: { method: 'get', action: 'get' },
  list: { method: 'get', action: 'list' },
  patch: { method: 'patch', action: 'patch' },
  update: { method: 'put', action: 'put' },
};

function pathItem(
  wanted: readonly RequestVerb[],
  allowed: readonly RequestVerb[],
  facts: PathFacts,
): OpenApiPathItem {
  const item: Partial<Record<OpenApiMethod, OpenApiOperation>> = {};
  for (const verb of wanted) {
    if (verb === 'watch' || !allowed.includes(verb)) continue;
    const { method, action } = methods[verb];
    const parameters = queryParameters[verb].map(queryParameter);
    item[method] = {
      // Go's types omit an empty list, so clients that decode and encode a document would lose it.
      ...(parameters.length === 0 ? {} : { parameters }),
      ...requestBody(verb, facts),
      responses: responses(verb === 'list' || verb === 'deletecollection' ? facts.list : facts.object),
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': facts.about,
    };
  }
  return { ...item, parameters: [...facts.parameters, queryParameter('pretty')] };
}

const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];
const listParameters = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
const deleteParameters = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];

const queryParameters: Readonly<Record<Exclude<RequestVerb, 'watch'>, readonly string[]>> = {
  create: writeParameters,
  update: writeParameters,
  patch: [...writeParameters, 'force'],
  get: [],
  list: listParameters,
  delete: deleteParameters,
  deletecollection: [...listParameters.slice(1, -1), ...deleteParameters],
};

const parameterTypes: Readonly<Record<string, string>> = {
  allowWatchBookmarks: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  limit: 'integer',
  orphanDependents: 'boolean',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};

function queryParameter(name: string): OpenApiParameter {
  return { name, in: 'query', schema: { type: parameterTypes[name] ?? 'string', uniqueItems: true } };
}

function pathParameter(name: string): OpenApiParameter {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

const strategicType = 'application/strategic-merge-patch+json';
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  strategicType,
];

/** Custom resources define no strategic merge of their lists. kubectl uses another patch type if this one is not listed. */
function patchTypesOf({ definition }: ServedKind): readonly string[] {
  return definition === undefined ? patchTypes : patchTypes.filter((type) => type !== strategicType);
}

function requestBody(verb: RequestVerb, facts: PathFacts): Pick<OpenApiOperation, 'requestBody'> {
  if (verb === 'create' || verb === 'update') {
    return { requestBody: { content: { '*/*': { schema: facts.object } }, required: true } };
  }
  if (verb !== 'patch') return {};
  const content = Object.fromEntries(facts.patchTypes.map((type) => [type, { schema: { type: 'object' } }]));
  return { requestBody: { content, required: true } };
}

function responses(schema: OpenApiSchema): OpenApiOperation['responses'] {
  const content = { 'application/json': { schema }, 'application/yaml': { schema } };
  return { 200: { description: 'OK', content }, 401: { description: 'Unauthorized' } };
}

interface OpenApiSubresource {
  readonly name: string;
  readonly type: string;
  readonly about: Gvk;
}

function openApiSubresources(kind: ServedKind): readonly OpenApiSubresource[] {
  const own = { group: kind.group, version: kind.version, kind: kind.kind };
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return [
    ...(kind.hasStatus ? [{ name: 'status', type: kind.type, about: own }] : []),
    ...(kind.scale === undefined ? [] : [{ name: 'scale', type: 'autoscaling/v1.Scale', about: scale }]),
    ...(kind.subresources ?? []).map(({ name, type, group, version, kind: partKind }) => ({
      name,
      type,
      about: { group: group ?? own.group, version: version ?? own.version, kind: partKind },
    })),
  ];
}

/** The name of a document in the index: `api/v1`, `apis/apps/v1`. */
export function documentName(kind: Pick<ServedKind, 'group' | 'version'>): string {
  return `${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`;
}
