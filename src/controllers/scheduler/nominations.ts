import type { PodRecord } from '../../engine/records/pod-record.ts';
import { wantsNode } from './pods-to-place.ts';

/** The pods that wait for a node of their own: room is being made for them there, or their volumes are. */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();

  /** In no order. */
  get all(): readonly PodRecord[] {
    return [...this.#pods.values()];
  }

  changed(before: PodRecord | undefined, after: PodRecord | undefined): void {
    if (before !== undefined) this.#pods.delete(before.key);
    if (after !== undefined && after.nominatedNode !== '' && wantsNode(after))
      this.#pods.set(after.key, after);
  }
}
