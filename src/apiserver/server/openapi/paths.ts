import { apiVersionOf } from '../../../kube/resource.ts';
import type { Kind, Verb } from '../../kinds/served-kind.ts';
import type { ReviewKind } from '../routing/review-kinds.ts';
import { verbsOf, verbsOfSubresource } from '../routing/verbs.ts';
import type { Schema, SchemaCollector } from './schemas.ts';

/** Operations by method, and the parameters that all of them take. */
export type PathItem = Readonly<Partial<Record<Method, Operation>>> & {
  readonly parameters: readonly Parameter[];
};

export type Method = 'delete' | 'get' | 'patch' | 'post' | 'put';

export interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content; readonly required: boolean };
  /** By code. */
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly 'x-kubernetes-action': string;
  readonly 'x-kubernetes-group-version-kind': Gvk;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: boolean;
  readonly schema: { readonly type: string; readonly uniqueItems: boolean };
}

/** By media type. */
type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** The paths of a kind. What clients look for is which parameters and patches an operation takes, and what it is about. */
export function pathsOf(kind: Kind, schemas: SchemaCollector): Record<string, PathItem> {
  const about = { group: kind.group, version: kind.version, kind: kind.kind };
  const object = schemas.ofKind(kind);
  const facts = { about, object, list: schemas.listOf(kind), patchTypes: patchTypesOf(kind) };
  const base = basePath(kind);
  const own = kind.namespaced ? `${base}/namespaces/{namespace}/${kind.plural}` : `${base}/${kind.plural}`;
  const verbs = verbsOf(kind);
  const scope = kind.namespaced ? [pathParameter('namespace')] : [];
  const named = [pathParameter('name'), ...scope];
  const paths: Record<string, PathItem> = {
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
  for (const part of partsOf(kind)) {
    const whole = part.type === kind.type ? object : schemas.reference(part.type);
    paths[`${own}/{name}/${part.name}`] = pathItem(allVerbs, verbsOfSubresource(kind, part.name), {
      ...facts,
      about: part.about,
      object: whole,
      parameters: named,
    });
  }
  return paths;
}

export function reviewPathsOf(kind: ReviewKind, schemas: SchemaCollector): Record<string, PathItem> {
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
  readonly parameters: readonly Parameter[];
  readonly patchTypes: readonly string[];
}

const allVerbs: readonly Verb[] = ['get', 'create', 'update', 'patch', 'delete'];

const methods: Readonly<
  Record<Exclude<Verb, 'watch'>, { readonly method: Method; readonly action: string }>
> = {
  create: { method: 'post', action: 'post' },
  delete: { method: 'delete', action: 'delete' },
  deletecollection: { method: 'delete', action: 'deletecollection' },
  get: { method: 'get', action: 'get' },
  list: { method: 'get', action: 'list' },
  patch: { method: 'patch', action: 'patch' },
  update: { method: 'put', action: 'put' },
};

function pathItem(wanted: readonly Verb[], allowed: readonly Verb[], facts: PathFacts): PathItem {
  const item: Partial<Record<Method, Operation>> = {};
  for (const verb of wanted) {
    if (verb === 'watch' || !allowed.includes(verb)) continue;
    const { method, action } = methods[verb];
    item[method] = {
      parameters: queryParameters[verb].map(queryParameter),
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

function queryParameter(name: string): Parameter {
  return { name, in: 'query', schema: { type: parameterTypes[name] ?? 'string', uniqueItems: true } };
}

function pathParameter(name: string): Parameter {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

const strategicType = 'application/strategic-merge-patch+json';
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  strategicType,
];

/** How lists of a custom resource merge strategically nobody has said: kubectl takes another patch where this one is not told. */
function patchTypesOf({ definition }: Kind): readonly string[] {
  return definition === undefined ? patchTypes : patchTypes.filter((type) => type !== strategicType);
}

function requestBody(verb: Verb, facts: PathFacts): Pick<Operation, 'requestBody'> {
  if (verb === 'create' || verb === 'update') {
    return { requestBody: { content: { '*/*': { schema: facts.object } }, required: true } };
  }
  if (verb !== 'patch') return {};
  const content = Object.fromEntries(facts.patchTypes.map((type) => [type, { schema: { type: 'object' } }]));
  return { requestBody: { content, required: true } };
}

function responses(schema: Schema): Operation['responses'] {
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
