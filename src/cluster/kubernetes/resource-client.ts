import type { KubeObject, Status } from '../../kube/api/meta.ts';
import { badRequest } from '../../kube/api-error.ts';
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ListPage,
  Patch,
  PatchOptions,
  SubresourceWriteOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../kube/api-requests.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { apiVersionOf, type ObjectKey, type Resource } from '../../kube/resource.ts';
import { isRecord } from '../../kube/wire.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Fresh, ResourceClient } from '../cluster.ts';
import { clientError } from './failures.ts';
import {
  collectionPath,
  listQuery,
  objectPath,
  patchQuery,
  selectionQuery,
  watchQuery,
  writeQuery,
} from './request-path.ts';
import type { Requester } from './requester.ts';
import { readWatchStream } from './watch-stream.ts';

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML.
  apply: 'application/apply-patch+yaml',
} as const;

/** How long after its timeout a watch may still end by itself. */
const watchGraceMs = 30_000;

export interface ResourceClientOptions {
  readonly requester: Requester;
  readonly clock: Clock;
  readonly watchSilenceMsMax: number;
}

/** One resource of a real cluster, over HTTP. */
export class KubernetesResourceClient<T extends KubeObject> implements ResourceClient<T> {
  readonly resource: Resource<T>;
  readonly #options: ResourceClientOptions;
  readonly #requester: Requester;

  constructor(resource: Resource<T>, options: ResourceClientOptions) {
    this.resource = resource;
    this.#options = options;
    this.#requester = options.requester;
  }

  async get(key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const path = objectPath(this.resource, key, options.subresource);
    return (await this.#requester.exchange({ method: 'GET', path, signal: options.signal })) as T;
  }

  async list(options: ListOptions = {}): Promise<ListPage<T>> {
    const path = collectionPath(this.resource, options.namespace) + listQuery(options);
    const { signal, omitsManagedFields } = options;
    const answer = await this.#requester.exchange({ method: 'GET', path, signal, omitsManagedFields });
    return pageOf<T>(answer, path);
  }

  async *watch(options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { signal, timeoutSeconds, bookmarks } = options;
    const path = collectionPath(this.resource, options.namespace) + watchQuery(options);
    try {
      const stream = await this.#requester.stream({ method: 'GET', path, signal });
      yield* readWatchStream<T>(stream, {
        clock: this.#options.clock,
        // Without bookmarks, silence may just mean that nothing changes.
        silenceMsMax: bookmarks ? this.#options.watchSilenceMsMax : undefined,
        durationMsMax: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000 + watchGraceMs,
      });
    } catch (error) {
      // A watch that is aborted has not failed.
      if (!signal.aborted) throw error;
    }
  }

  async create(object: Fresh<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace } = object.metadata ?? {};
    if (this.resource.namespaced && !namespace)
      throw badRequest('an empty namespace may not be set during creation');
    const collection = collectionPath(this.resource, this.resource.namespaced ? namespace : undefined);
    const call = {
      path: collection + writeQuery(options),
      body: this.#textOf(object),
      signal: options.signal,
    };
    return (await this.#requester.exchange({ method: 'POST', ...call })) as T;
  }

  async update(object: Fresh<T>, options: SubresourceWriteOptions = {}): Promise<T> {
    const { name = '', namespace } = object.metadata ?? {};
    const path = objectPath(this.resource, { name, namespace }, options.subresource) + writeQuery(options);
    const call = { path, body: this.#textOf(object), signal: options.signal };
    return (await this.#requester.exchange({ method: 'PUT', ...call })) as T;
  }

  async patch(key: ObjectKey, patch: Patch, options: PatchOptions = {}): Promise<T> {
    const path = objectPath(this.resource, key, options.subresource) + patchQuery(options);
    const body = jsonText(patch.type === 'json' ? patch.operations : patch.body);
    const contentType = patchTypes[patch.type];
    const call = { path, body, contentType, signal: options.signal };
    return (await this.#requester.exchange({ method: 'PATCH', ...call })) as T;
  }

  async delete(key: ObjectKey, options: DeleteOptions = {}): Promise<T | Status> {
    const path = objectPath(this.resource, key);
    const call = { path, body: deleteBody(options), signal: options.signal };
    return (await this.#requester.exchange({ method: 'DELETE', ...call })) as T | Status;
  }

  async deleteCollection(options: DeleteCollectionOptions): Promise<void> {
    const path = collectionPath(this.resource, options.namespace) + selectionQuery(options);
    await this.#requester.exchange({
      method: 'DELETE',
      path,
      body: deleteBody(options),
      signal: options.signal,
    });
  }

  async post(
    key: ObjectKey,
    subresource: string,
    body: KubeObject,
    options: WriteOptions = {},
  ): Promise<unknown> {
    const path = objectPath(this.resource, key, subresource) + writeQuery(options);
    const call = { path, body: jsonText(body), signal: options.signal };
    return await this.#requester.exchange({
      method: 'POST',
      ...call,
      isRefusable: subresource === 'eviction',
    });
  }

  /** Objects of built-in kinds may omit their kind; the server requires it for all others. */
  #textOf(object: KubeObject): string {
    return jsonText({ apiVersion: apiVersionOf(this.resource), kind: this.resource.kind, ...object });
  }
}

function pageOf<T>(answer: unknown, path: string): ListPage<T> {
  const { metadata, items } = isRecord(answer) ? answer : {};
  const hasVersion = isRecord(metadata) && typeof metadata.resourceVersion === 'string';
  // A Go server writes an empty list as null.
  const list: unknown = items === null ? [] : items;
  if (!hasVersion || !Array.isArray(list))
    throw clientError(500, 'InternalError', `GET ${path} was answered with an object that is not a list`);
  return { metadata: metadata as unknown as ListPage<T>['metadata'], items: list as readonly T[] };
}

function deleteBody(options: DeleteOptions): string {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  const body = {
    gracePeriodSeconds,
    propagationPolicy,
    preconditions,
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  return jsonText({ kind: 'DeleteOptions', apiVersion: 'v1', ...body });
}
