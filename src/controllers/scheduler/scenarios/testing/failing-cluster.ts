import type { Cluster, ResourceClient } from '../../../../cluster/cluster.ts';
import type { KubeObject } from '../../../../kube/api/meta.ts';
import type { Resource } from '../../../../kube/resource.ts';

/** Which patches don't arrive. */
export type Breaks = (plural: string, name: string) => boolean;

/** A way to a cluster on which some patches get lost before they arrive. */
export class FailingCluster implements Cluster {
  readonly #inner: Cluster;
  breaks: Breaks = () => false;

  constructor(inner: Cluster) {
    this.#inner = inner;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const inner = this.#inner.resource(resource);
    return new Proxy(inner, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (name !== 'patch') return member.bind(target);
        return async (key: { readonly name: string }, ...rest: readonly unknown[]) => {
          if (this.breaks(resource.plural, key.name)) throw new Error('the line is dead');
          return await member.call(target, key, ...rest);
        };
      },
    });
  }
}
