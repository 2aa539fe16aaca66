import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';

const writes = new Set(['create', 'update', 'patch', 'delete', 'deleteCollection', 'post']);

/** A way to a cluster that breaks off after so many writes: the last one still succeeds, but its writer does not hear of it. */
export class LimitedCluster implements Cluster {
  readonly #inner: Cluster;
  readonly #writesMax: number;
  #written = 0;
  #begun = 0;
  #onBroken = () => {};
  /** Resolves when the last write is done. */
  readonly broken = new Promise<void>((resolve) => {
    this.#onBroken = resolve;
  });

  constructor(inner: Cluster, writesMax: number) {
    this.#inner = inner;
    this.#writesMax = writesMax;
  }

  get written(): number {
    return this.#written;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#inner.resource(resource);
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (name === 'watch') return member.bind(target);
        return (...args: unknown[]) => this.#call(String(name), () => member.apply(target, args));
      },
    });
  }

  async #call(name: string, call: () => Promise<unknown>): Promise<unknown> {
    const isWrite = writes.has(name);
    if (this.#begun >= this.#writesMax) throw gone();
    if (isWrite) this.#begun += 1;
    const answer = await call().finally(() => {
      if (isWrite) this.#written += 1;
      if (this.#written === this.#writesMax) this.#onBroken();
    });
    if (this.#written >= this.#writesMax) throw gone();
    return answer;
  }
}

/** Whoever calls from now on is as good as dead. */
function gone(): Error {
  return new Error('the way to the cluster has broken off');
}
