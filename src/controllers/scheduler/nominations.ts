import { needsNode } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';

/** The pods that have a nominated node: their victims are being evicted there, or their volumes are there. */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();

  /** In no particular order. */
  get all(): readonly PodRecord[] {
    return [...this.#pods.values()];
  }

  /** Returns the node that the pod was nominated to, if it is no longer nominated to it and was not bound to it. */
  observe(key: string, pod: PodRecord | undefined): string | undefined {
    const before = this.#pods.get(key)?.nominatedNode;
    const isWaiting = pod !== undefined && pod.nominatedNode !== '' && needsNode(pod);
    if (isWaiting) this.#pods.set(key, pod);
    else this.#pods.delete(key);
    const now = isWaiting ? pod.nominatedNode : pod?.nodeName;
    return before === now ? undefined : before;
  }
}
