import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';

/** A way to a cluster whose next answer to one question is another, when it is asked to lie. */
export class LyingCluster implements Cluster {
  readonly #inner: Cluster;
  #lie: Lie | undefined;

  constructor(inner: Cluster) {
    this.#inner = inner;
  }

  lieOnce(lie: Lie): void {
    this.#lie = lie;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    return new Proxy(this.#inner.resource(resource), {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const lie = this.#lie;
          if (lie?.plural !== resource.plural || lie.method !== name) return member.apply(target, args);
          this.#lie = undefined;
          return Promise.resolve(lie.answer);
        };
      },
    });
  }
}

export interface Lie {
  readonly plural: string;
  readonly method: 'get' | 'list';
  readonly answer: unknown;
}
