import { isServed } from './served.ts';

type Json = Readonly<Record<string, unknown>>;

/** Reduces an OpenAPI document to the served kinds: operations by path and fields by schema, without descriptions. */
export function openapiByName(document: unknown): unknown {
  const { paths, components } = document as {
    readonly paths: Json;
    readonly components: { readonly schemas: Json };
  };
  const kept = Object.entries(paths).filter(([path]) => isServedPath(path));
  const operations = Object.fromEntries(kept.map(([path, item]) => [path, operationsOf(item as Json)]));
  const schemas = reachable(
    kept.map(([, item]) => item),
    components.schemas,
  );
  return { operations, schemas };
}

/** Example: `/api/v1/namespaces/{namespace}/pods/{name}/status` belongs to pods. */
function isServedPath(path: string): boolean {
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(?:namespaces\/\{namespace\}\/)?([^/]+)/.exec(path);
  if (match === null || match[3] === 'watch') return false;
  const [, group, version = '', plural = ''] = match;
  return isServed(group === undefined ? version : `${group}/${version}`, plural);
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Example: `list /v1 Pod namespace` is the action, the kind, and the parameters that are not usual for the action. */
function operationsOf(item: Json): unknown {
  const operations = methods.filter((method) => method in item);
  return Object.fromEntries(operations.map((method) => [method, operationOf(item, item[method] as Json)]));
}

function operationOf(item: Json, operation: Json): string {
  const { group, version, kind } = (operation['x-kubernetes-group-version-kind'] ?? {}) as Record<
    string,
    string
  >;
  const action = operation['x-kubernetes-action'] as string;
  const all = [...((item.parameters as Json[]) ?? []), ...((operation.parameters as Json[]) ?? [])];
  const names = all.map((parameter) => nameOf(parameter));
  const usual = usualParameters[action] ?? [];
  const unusual = [
    ...usual.filter((name) => !names.includes(name)).map((name) => `-${name}`),
    ...names.filter((name) => !usual.includes(name)),
  ].sort();
  const content = ((operation.requestBody as Json | undefined)?.content ?? {}) as Json;
  return [action, `${group}/${version}`, kind, ...unusual, ...Object.keys(content).sort()].join(' ');
}

const writing = ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'];
const selecting = ['continue', 'fieldSelector', 'labelSelector', 'limit', 'pretty', 'resourceVersion'];
const listing = [
  ...selecting,
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
];
const deleting = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];

/** As the real server has them, so that only parameters that differ between kinds are compared. */
const usualParameters: Readonly<Record<string, readonly string[]>> = {
  get: ['name', 'pretty'],
  list: [...listing, 'allowWatchBookmarks', 'watch'],
  post: writing,
  put: ['name', ...writing],
  patch: ['force', 'name', ...writing],
  delete: ['name', 'pretty', ...deleting, 'ignoreStoreReadErrorWithClusterBreakingPotential'],
  deletecollection: [...listing, ...deleting, 'ignoreStoreReadErrorWithClusterBreakingPotential'],
};

/** Shared parameters are referenced by name and a hash of their content: `pretty-tJGM1-ng`. */
function nameOf({ name, $ref }: Json): string {
  const referred = ($ref as string | undefined)?.split('/').at(-1);
  return (name as string | undefined) ?? referred?.replace(/-[^-]{8}$/, '') ?? '?';
}

function reachable(from: readonly unknown[], schemas: Json): unknown {
  const found = new Map<string, unknown>();
  const pending = from.flatMap(referencesIn);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    found.set(name, schemaOf(schemas[name] as Json | undefined));
    pending.push(...referencesIn(schemas[name]));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function referencesIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? '';
  return [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '');
}

/** Each field in one line: its type, and the extensions that decide how it is merged. */
function schemaOf(schema: Json | undefined): unknown {
  if (schema === undefined) return 'missing';
  const { properties, description: _, ...rest } = schema;
  const fields = Object.entries((properties ?? {}) as Record<string, Json>);
  return {
    ...(Object.keys(rest).length === 0 ? {} : { is: textOf(rest) }),
    ...Object.fromEntries(fields.map(([name, field]) => [name, textOf(field)])),
  };
}

function textOf(value: unknown): string {
  const short = JSON.stringify(sorted(value)).replaceAll('#/components/schemas/', '');
  return short.replaceAll(/["{}]/g, '').replaceAll('x-kubernetes-', '');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== 'description');
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]),
  );
}
