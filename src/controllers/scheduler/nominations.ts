import type { PodRecord } from '../../engine/records/pod-record.ts';
import { needsNode } from './pending-pods.ts';

/** The pods that wait for a node of their own: room is being made for them there, or their volumes are. */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();

  /** In no order. */
  get all(): readonly PodRecord[] {
    return [...this.#pods.values()];
  }

  /** The node that it waited for and has neither got nor waits for any longer; undefined if there is none. */
  observe(key: string, pod: PodRecord | undefined): string | undefined {
    const before = this.#pods.get(key)?.nominatedNode;
    const isWaiting = pod !== undefined && pod.nominatedNode !== '' && needsNode(pod);
    if (isWaiting) this.#pods.set(key, pod);
    else this.#pods.delete(key);
    const now = isWaiting ? pod.nominatedNode : pod?.nodeName;
    return before === now ? undefined : before;
  }
}
