import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { KubeObject } from '../../../src/kube/api/meta.ts';
import { qualifiedPlural, type Resource } from '../../../src/kube/resource.ts';
import type { StoredState } from '../../../src/simulation/invariants/stored-state.ts';

const encoder = new TextEncoder();

/** One version of one object, as its watch delivered it. */
interface LoggedVersion {
  readonly plural: string;
  readonly type: 'put' | 'remove';
  readonly revision: number;
  readonly object: KubeObject;
}

/** The versions of all objects are numbers of one sequence: those of etcd. */
export function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata?.resourceVersion);
}

/**
 * Every version of some resources of a real API server, from one watch for each. `flush` gives them to the checks in the order in which they
 * were stored, which is only known when all watches have delivered what was written.
 */
export class VersionLog {
  /** The newest version that was delivered, by resource. */
  readonly #newest = new Map<string, number>();
  readonly #removedUids = new Set<string>();
  readonly #waiting: LoggedVersion[] = [];
  readonly #onVersion: () => void;
  /** Why a watch ended. */
  failure: unknown;

  constructor(onVersion: () => void) {
    this.#onVersion = onVersion;
  }

  /** Follows a resource until the signal aborts. */
  async follow(cluster: Cluster, resource: Resource, signal: AbortSignal): Promise<void> {
    const client = cluster.resource(resource);
    const { metadata } = await client.list({ limit: 1 });
    const plural = qualifiedPlural(resource);
    this.#newest.set(plural, Number(metadata.resourceVersion));
    const read = async () => {
      // The server ends a watch whose client is slow; the next one goes on where it ended.
      while (!signal.aborted) {
        const resourceVersion = String(this.newest(plural));
        for await (const event of client.watch({ resourceVersion, signal })) {
          if (event.type === 'BOOKMARK') continue;
          this.#add(plural, event.type === 'DELETED' ? 'remove' : 'put', event.object);
        }
      }
    };
    void read().catch((error: unknown) => {
      if (!signal.aborted) this.failure ??= error;
      this.#onVersion();
    });
  }

  isFollowed(plural: string): boolean {
    return this.#newest.has(plural);
  }

  newest(plural: string): number {
    return this.#newest.get(plural) ?? 0;
  }

  isRemoved(uid: string): boolean {
    return this.#removedUids.has(uid);
  }

  /** Everything that was written has been delivered: the checks receive it. Undefined: nothing checks it. */
  flush(state: StoredState | undefined): void {
    const versions = this.#waiting.splice(0).sort((a, b) => a.revision - b.revision);
    for (const { plural, type, revision, object } of versions) {
      const { name = '', namespace } = object.metadata ?? {};
      const key = namespace === undefined ? name : `${namespace}/${name}`;
      const bytes = encoder.encode(JSON.stringify(object));
      const entry = { key, bytes, revision, createRevision: revision };
      state?.written({ type, bucket: plural, entry, previous: undefined });
    }
  }

  #add(plural: string, type: LoggedVersion['type'], object: KubeObject): void {
    const revision = revisionOf(object);
    this.#newest.set(plural, Math.max(this.newest(plural), revision));
    if (type === 'remove') this.#removedUids.add(object.metadata?.uid ?? '');
    this.#waiting.push({ plural, type, revision, object });
    this.#onVersion();
  }
}
