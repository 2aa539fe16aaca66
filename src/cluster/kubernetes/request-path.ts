import { badRequest } from '../../kube/api-error.ts';
import type {
  DeleteCollectionOptions,
  ListOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from '../../kube/api-requests.ts';
import type { ObjectKey, Resource } from '../../kube/resource.ts';

/** `/api/v1/namespaces/default/pods`, or without the namespace for the objects of all of them. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const { group, version, plural } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace ? `/namespaces/${segment(namespace, 'namespace')}` : '';
  return `${root}${scope}/${plural}`;
}

export function objectPath(resource: Resource, key: ObjectKey, subresource?: string): string {
  if (resource.namespaced && !key.namespace)
    throw badRequest('an empty namespace may not be set when a resource name is provided');
  const collection = collectionPath(resource, resource.namespaced ? key.namespace : undefined);
  const path = `${collection}/${segment(key.name, 'resource name')}`;
  return subresource === undefined ? path : `${path}/${segment(subresource, 'subresource')}`;
}

/** A segment of a path that can neither end the path nor leave it. */
function segment(text: string, what: string): string {
  if (text === '') throw badRequest(`${what} may not be empty`);
  if (text === '.' || text === '..' || /[/%]/.test(text))
    throw badRequest(`invalid ${what} ${JSON.stringify(text)}: it must be a name, not a path`);
  return encodeURIComponent(text);
}

type Value = string | number | boolean | undefined;

/** `?a=1&b=x`, or nothing; values that are undefined are left out. */
function queryText(parameters: Readonly<Record<string, Value>>): string {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const texts = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return texts.length === 0 ? '' : `?${texts.join('&')}`;
}

export function listQuery(options: ListOptions): string {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
  const parameters = { labelSelector, fieldSelector, limit, continue: options.continue };
  return queryText({ ...parameters, resourceVersion, resourceVersionMatch });
}

export function watchQuery(options: WatchOptions): string {
  const { labelSelector, fieldSelector, resourceVersion, timeoutSeconds, bookmarks } = options;
  const initial = options.sendInitialEvents
    ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
    : {};
  const parameters = { watch: true, labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
  return queryText({ ...parameters, ...initial, allowWatchBookmarks: bookmarks || undefined });
}

export function writeQuery(options: WriteOptions): string {
  const { dryRun, fieldManager, fieldValidation } = options;
  return queryText({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation });
}

export function patchQuery(options: PatchOptions): string {
  const { dryRun, fieldManager, fieldValidation, force } = options;
  return queryText({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation, force });
}

export function selectionQuery({ labelSelector, fieldSelector }: DeleteCollectionOptions): string {
  return queryText({ labelSelector, fieldSelector });
}
