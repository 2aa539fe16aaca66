import type { PodRecord } from '../../engine/records/pod-record.ts';
import { wantsNode } from './pods-to-place.ts';

/** The pods that wait for a node of their own: room is being made for them there, or their volumes are. */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();

  /** In no order. */
  get all(): readonly PodRecord[] {
    return [...this.#pods.values()];
  }

  changed(key: string, pod: PodRecord | undefined): void {
    if (pod !== undefined && pod.nominatedNode !== '' && wantsNode(pod)) this.#pods.set(key, pod);
    else this.#pods.delete(key);
  }
}
