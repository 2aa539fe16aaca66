import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { PersistentVolumeClaim } from '../../../src/kube/api/core.ts';
import { persistentVolumeClaims } from '../../../src/kube/resources.ts';

/** Watches every version of every claim, and records violations, however short. */
export class ClaimMonitor {
  readonly #violations = new Set<string>();
  /** The claim that names each volume. */
  readonly #named = new Map<string, string>();

  /** Runs until `signal` aborts. Rejects if events may have been missed. */
  async watch(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const client = cluster.resource(persistentVolumeClaims);
    const { items, metadata } = await client.list({ signal });
    let { resourceVersion } = metadata;
    for (const claim of items) this.#see(claim);
    while (!signal.aborted) {
      for await (const event of client.watch({ resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        resourceVersion = event.object.metadata?.resourceVersion ?? resourceVersion;
        this.#see(event.object);
      }
    }
  }

  /** The violations in the namespace. */
  violationsIn(namespace: string): readonly string[] {
    return [...this.#violations].filter((violation) => violation.startsWith(`${namespace}/`));
  }

  #see({ metadata, spec, status }: PersistentVolumeClaim): void {
    const key = `${metadata?.namespace}/${metadata?.name}`;
    if (status?.phase === 'Lost') this.#violations.add(`${key} was Lost`);
    const volume = spec?.volumeName ?? '';
    if (volume === '') return;
    const other = [...this.#named].find(([claim, named]) => claim !== key && named === volume);
    if (other !== undefined) this.#violations.add(`${key} named ${volume}, as ${other[0]} did`);
    this.#named.set(key, volume);
  }
}
