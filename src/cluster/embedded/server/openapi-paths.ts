import { apiVersionOf } from '../../resource.ts';
import type { Kind, Verb } from '../kinds/kind.ts';
import type { Schema, SchemaCollector } from './openapi-schemas.ts';
import type { ReviewKind } from './review-kinds.ts';
import { verbsOf, verbsOfSubresource } from './verbs.ts';

/** The paths of a kind. What clients look for is which parameters and patches an operation takes, and what it is about. */
export function pathsOf(kind: Kind, schemas: SchemaCollector): Record<string, Schema> {
  const about = { group: kind.group, version: kind.version, kind: kind.kind };
  const object = schemas.reference(kind.type);
  const list = schemas.listReference(kind.type, kind.group, kind.version);
  const base = basePath(kind);
  const own = kind.namespaced ? `${base}/namespaces/{namespace}/${kind.plural}` : `${base}/${kind.plural}`;
  const verbs = verbsOf(kind);
  const scope = kind.namespaced ? [pathParameter('namespace')] : [];
  const named = [pathParameter('name'), ...scope];
  const paths: Record<string, Schema> = {
    [own]: pathItem(['list', 'create', 'deletecollection'], verbs, {
      about,
      object,
      list,
      parameters: scope,
    }),
    [`${own}/{name}`]: pathItem(['get', 'update', 'patch', 'delete'], verbs, {
      about,
      object,
      list,
      parameters: named,
    }),
  };
  if (kind.namespaced) {
    paths[`${base}/${kind.plural}`] = pathItem(['list'], verbs, { about, object, list, parameters: [] });
  }
  for (const part of partsOf(kind)) {
    const facts = { about: part.about, object: schemas.reference(part.type), list, parameters: named };
    paths[`${own}/{name}/${part.name}`] = pathItem(allVerbs, verbsOfSubresource(kind, part.name), facts);
  }
  return paths;
}

export function reviewPathsOf(kind: ReviewKind, schemas: SchemaCollector): Record<string, Schema> {
  const { group, version, plural, namespaced } = kind;
  const object = schemas.reference(kind.type);
  const scope = namespaced ? 'namespaces/{namespace}/' : '';
  const parameters = namespaced ? [pathParameter('namespace')] : [];
  const facts = { about: { group, version, kind: kind.kind }, object, list: object, parameters };
  return { [`/apis/${group}/${version}/${scope}${plural}`]: pathItem(['create'], ['create'], facts) };
}

function basePath({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface PathFacts {
  readonly about: Gvk;
  readonly object: Schema;
  readonly list: Schema;
  readonly parameters: readonly Schema[];
}

const allVerbs: readonly Verb[] = ['get', 'create', 'update', 'patch', 'delete'];

const methods: Readonly<
  Record<Exclude<Verb, 'watch'>, { readonly method: string; readonly action: string }>
> = {
  create: { method: 'post', action: 'post' },
  delete: { method: 'delete', action: 'delete' },
  deletecollection: { method: 'delete', action: 'deletecollection' },
  get: { method: 'get', action: 'get' },
  list: { method: 'get', action: 'list' },
  patch: { method: 'patch', action: 'patch' },
  update: { method: 'put', action: 'put' },
};

function pathItem(wanted: readonly Verb[], allowed: readonly Verb[], facts: PathFacts): Schema {
  const item: Record<string, unknown> = {};
  for (const verb of wanted) {
    if (verb === 'watch' || !allowed.includes(verb)) continue;
    const { method, action } = methods[verb];
    item[method] = {
      parameters: queryParameters[verb].map(queryParameter),
      ...requestBody(verb, facts.object),
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

const queryParameters: Readonly<Record<Exclude<Verb, 'watch'>, readonly string[]>> = {
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

function queryParameter(name: string): Schema {
  return { name, in: 'query', schema: { type: parameterTypes[name] ?? 'string', uniqueItems: true } };
}

function pathParameter(name: string): Schema {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

function requestBody(verb: Verb, object: Schema): Schema {
  if (verb === 'create' || verb === 'update') {
    return { requestBody: { content: { '*/*': { schema: object } }, required: true } };
  }
  if (verb !== 'patch') return {};
  const content = Object.fromEntries(patchTypes.map((type) => [type, { schema: { type: 'object' } }]));
  return { requestBody: { content, required: true } };
}

function responses(schema: Schema): Schema {
  const content = { 'application/json': { schema }, 'application/yaml': { schema } };
  return { 200: { description: 'OK', content }, 401: { description: 'Unauthorized' } };
}

interface Part {
  readonly name: string;
  readonly type: string;
  readonly about: Gvk;
}

function partsOf(kind: Kind): readonly Part[] {
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
export function documentName(kind: Pick<Kind, 'group' | 'version'>): string {
  return `${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`;
}
