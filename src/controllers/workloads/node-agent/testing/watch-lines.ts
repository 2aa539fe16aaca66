import type { Node } from '../../../../kube/api/core.ts';
import type { KubeObject } from '../../../../kube/api/meta.ts';
import type { WatchEvent } from '../../../../kube/api-requests.ts';
import type { Resource } from '../../../../kube/resource.ts';
import { nodes, pods, volumeAttachments } from '../../../../kube/resources.ts';
import type { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';

/** Changes from now on, in order, each as a line; lines that equal the previous one of their object are left out. */
export interface WatchedLines extends AsyncDisposable {
  readonly seen: readonly string[];
}

export function watchLines(
  { cluster }: VirtualTimeCluster,
  { node }: { readonly node: (node: Node) => string },
): WatchedLines {
  const abort = new AbortController();
  const seen: string[] = [];
  const last = new Map<string, string>();
  const follow = async <T extends KubeObject>(resource: Resource<T>, lineOf: (object: T) => string) => {
    const { items, metadata } = await cluster.resource(resource).list();
    for (const item of items) last.set(`${resource.plural} ${item.metadata?.name}`, lineOf(item));
    const { resourceVersion } = metadata;
    const options = { ...(resourceVersion === undefined ? {} : { resourceVersion }), signal: abort.signal };
    for await (const event of cluster.resource(resource).watch(options)) {
      const [key, line] = lineFor(resource, event, lineOf);
      if (line === undefined || last.get(key) === line) continue;
      last.set(key, line);
      seen.push(line);
    }
  };
  const done = Promise.all([
    follow(nodes, node),
    follow(pods, ({ status }) => `pod ${status?.phase}`),
    follow(
      volumeAttachments,
      ({ status }) => `attachment ${status?.attached === true ? 'attached' : 'made'}`,
    ),
  ]);
  return {
    seen,
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      await done;
    },
  };
}

function lineFor<T extends KubeObject>(
  { plural }: Resource<T>,
  event: WatchEvent<T>,
  lineOf: (object: T) => string,
): readonly [string, string | undefined] {
  if (event.type === 'BOOKMARK') return ['', undefined];
  const { name } = event.object.metadata ?? {};
  const isGone = event.type === 'DELETED';
  return [`${plural} ${name}`, isGone ? `${plural.replace(/^volume|s$/g, '')} gone` : lineOf(event.object)];
}
