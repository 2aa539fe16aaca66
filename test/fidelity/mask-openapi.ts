import { isServed } from './served.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a document says about the served kinds: operations by path, and fields by schema. Descriptions are left out. */
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

/** `/api/v1/namespaces/{namespace}/pods/{name}/status` is of pods. */
function isServedPath(path: string): boolean {
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(?:namespaces\/\{namespace\}\/)?([^/]+)/.exec(path);
  if (match === null || match[3] === 'watch') return false;
  const [, group, version = '', plural = ''] = match;
  return isServed(group === undefined ? version : `${group}/${version}`, plural);
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** `list Pod of v1 (dryRun, ...)`: what an operation does, to what, and which parameters it takes. */
function operationsOf(item: Json): unknown {
  const operations = methods.filter((method) => method in item);
  return Object.fromEntries(operations.map((method) => [method, operationOf(item, item[method] as Json)]));
}

function operationOf(item: Json, operation: Json): string {
  const { group, version, kind } = (operation['x-kubernetes-group-version-kind'] ?? {}) as Record<
    string,
    string
  >;
  const parameters = [...((item.parameters as Json[]) ?? []), ...((operation.parameters as Json[]) ?? [])];
  const names = parameters.map((parameter) => nameOf(parameter)).sort();
  const body = Object.keys(
    ((operation.requestBody as Json | undefined)?.content as Json | undefined) ?? {},
  ).sort();
  return `${operation['x-kubernetes-action']} ${group}/${version} ${kind} (${names.join(' ')}) ${body.join(' ')}`;
}

/** Common parameters are referred to by a name and the hash of what they are: `pretty-tJGM1-ng`. */
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

/** Each field on one line: what it is, and what decides how it is merged. */
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
