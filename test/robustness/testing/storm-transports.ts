import type { Agent } from 'node:https';
import type { Registry } from '../../../src/apiserver/registry/registry.ts';
import { EmbeddedCluster } from '../../../src/cluster/embedded-cluster.ts';
import type { KubeObject } from '../../../src/kube/api/meta.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../../../src/kube/api-requests.ts';
import { type AttackedAccess, call } from './attacked-server.ts';
import type { Transport, WatchRequest } from './storm-watcher.ts';
import { lineOf, rethrowAsStreamBroke, type WatchLine, watchLines } from './watch-lines.ts';
import type { Interest } from './watch-model.ts';

export type WatchFormat = 'object' | 'table' | 'metadata';

const accepts: Readonly<Record<WatchFormat, string>> = {
  object: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
};

interface WireList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubeObject[];
}

export interface OverHttpsOptions {
  readonly access: AttackedAccess;
  readonly agent: Agent;
  readonly form: WatchFormat;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number | undefined;
}

export function overHttps({ access, agent, form, timeoutSeconds }: OverHttpsOptions): Transport {
  return {
    async list(interest) {
      const asked = { access, agent, method: 'GET', path: pathOf(interest, {}), options: {} } as const;
      const reply = await call(asked).catch(rethrowAsStreamBroke);
      if (reply.status !== 200) throw new Error(`a list failed with status ${reply.status}`);
      return listed(JSON.parse(reply.text) as WireList);
    },
    watch({ interest, version, initialEvents, bookmarks, signal }) {
      const query = {
        watch: '1',
        ...(version === undefined ? {} : { resourceVersion: String(version) }),
        ...(initialEvents ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' } : {}),
        ...(bookmarks ? { allowWatchBookmarks: 'true' } : {}),
        ...(timeoutSeconds === undefined ? {} : { timeoutSeconds: String(timeoutSeconds) }),
      };
      return watchLines({ access, path: pathOf(interest, query), accept: accepts[form], signal });
    },
  };
}

/** Connects within the process, without HTTP, as our own controllers do. */
export function inProcess(registry: Registry): Transport {
  const cluster = new EmbeddedCluster({ registry, manager: 'storm' });
  const client = ({ plural }: Interest) =>
    cluster.resource({ group: '', version: 'v1', kind: '', plural, namespaced: true });
  return {
    async list(interest) {
      return listed(await client(interest).list(selectionOf(interest)));
    },
    watch: (request) => linesOf((options) => client(request.interest).watch(options), request),
  };
}

async function* linesOf(
  watch: (options: WatchOptions) => AsyncIterable<WatchEvent<KubeObject>>,
  { interest, version, initialEvents, bookmarks, signal }: WatchRequest,
): AsyncGenerator<WatchLine> {
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener('abort', end);
  const start = version === undefined ? {} : { resourceVersion: String(version) };
  const initial = initialEvents ? { sendInitialEvents: true } : {};
  try {
    for await (const event of watch({
      ...selectionOf(interest),
      ...start,
      ...initial,
      bookmarks,
      signal: over.signal,
    })) {
      if (event.type !== 'BOOKMARK')
        yield lineOf({ type: event.type, object: { metadata: event.object.metadata ?? {} } });
      else
        yield {
          type: 'BOOKMARK',
          key: '',
          version: Number(event.resourceVersion),
          isInitialEnd: event.isInitialEnd,
        };
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield { type: 'ERROR', key: '', version: 0, isInitialEnd: false, code: error.code };
  } finally {
    end();
    signal.removeEventListener('abort', end);
  }
}

function listed({ metadata, items }: WireList) {
  return {
    version: Number(metadata.resourceVersion),
    items: items.map(
      ({ metadata }) =>
        [`${metadata?.namespace}/${metadata?.name}`, Number(metadata?.resourceVersion)] as const,
    ),
  };
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Interest) {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

function pathOf(interest: Interest, query: Readonly<Record<string, string>>): string {
  const { namespace, ...selectors } = selectionOf(interest);
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `/api/v1${place}/${interest.plural}?${new URLSearchParams({ ...selectors, ...query })}`;
}
