import type { Cluster, ResourceClient } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { WatchEvent, WatchOptions } from '../../../kube/api-requests.ts';
import type { Resource } from '../../../kube/resource.ts';

/** A write that somebody makes. */
export interface Write {
  readonly verb: string;
  readonly plural: string;
  readonly name: string;
}

/** What comes of a write: whoever throws makes it fail. */
export interface Troubles {
  /** The write doesn't take place. */
  readonly before?: (write: Write) => unknown;
  /** The write has taken place, and the writer can't know. */
  readonly after?: (write: Write) => unknown;
  /** Every piece of news waits for it. */
  readonly news?: () => unknown;
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deleteCollection', 'post']);

/** One client's way to a cluster, on which writes fail when a test says so. Events get through. */
export class TroubledCluster implements Cluster {
  /** Those that were tried. */
  readonly writes: Write[] = [];
  troubles: Troubles = {};
  readonly #inner: Cluster;

  constructor(inner: Cluster) {
    this.#inner = inner;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    return new Proxy(this.#inner.resource(resource), {
      get: (target, verb) => {
        const member: unknown = Reflect.get(target, verb, target);
        if (typeof member !== 'function') return member;
        if (verb === 'watch') return (options: WatchOptions) => this.#watch(target, options);
        if (!writes.has(String(verb)) || resource.plural === 'events') return member.bind(target);
        return async (...args: unknown[]) => {
          const { name = '' } = (args[0] ?? {}) as { name?: string };
          const write: Write = { verb: String(verb), plural: resource.plural, name };
          this.writes.push(write);
          await this.troubles.before?.(write);
          const answer: unknown = await member.apply(target, args);
          await this.troubles.after?.(write);
          return answer;
        };
      },
    });
  }

  async *#watch<T extends KubeObject>(
    client: ResourceClient<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    for await (const event of client.watch(options)) {
      await this.troubles.news?.();
      yield event;
    }
  }
}
