import type { Cluster, ResourceClient } from '../../../../cluster/cluster.ts';
import type { KubeObject } from '../../../../kube/api/meta.ts';
import type { WatchEvent, WatchOptions } from '../../../../kube/api-requests.ts';
import type { Resource } from '../../../../kube/resource.ts';

/** A way to a cluster on which news of one resource is late: it arrives when the test says so. Everything else is in time. */
export class LateCluster implements Cluster {
  readonly #inner: Cluster;
  readonly #plural: string;
  #gate: PromiseWithResolvers | undefined;

  constructor(inner: Cluster, { plural }: Resource) {
    this.#inner = inner;
    this.#plural = plural;
  }

  /** From now on nothing is heard. */
  hold(): void {
    this.#gate ??= withResolvers();
  }

  /** All that was held back arrives, in order. */
  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#inner.resource(resource);
    if (resource.plural !== this.#plural) return client;
    return new Proxy(client, {
      get: (target, name) => {
        if (name === 'watch') return (options: WatchOptions) => this.#watch(target, options);
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  async *#watch<T extends KubeObject>(
    client: ResourceClient<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    for await (const event of client.watch(options)) {
      await this.#gate?.promise;
      yield event;
    }
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
