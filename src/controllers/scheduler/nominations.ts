import { needsNode } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';

/** The pods that have a nominated node: their victims are being evicted there, or their volumes are there. */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();
  readonly #unwritten = new Map<string, UnwrittenNomination>();

  /** In no particular order. */
  get all(): readonly PodRecord[] {
    return [...this.#pods.values()];
  }

  /**
   * Nominates the pod before its nomination is written, and even if that fails: an update of the pod which does not change its written
   * nomination does not end this one.
   */
  nominate(pod: PodRecord, nodeName: string): void {
    const { key, uid, nominatedNode: replaces } = pod;
    this.#unwritten.set(key, { uid, nodeName, replaces });
    this.observe(key, pod);
  }

  /** Goes back to what is written. Returns what `observe` returns. */
  forgetUnwritten(key: string, pod: PodRecord | undefined): string | undefined {
    this.#unwritten.delete(key);
    return this.observe(key, pod);
  }

  /** Returns the node that the pod was nominated to, if it is no longer nominated to it and was not bound to it. */
  observe(key: string, pod: PodRecord | undefined): string | undefined {
    const before = this.#pods.get(key)?.nominatedNode;
    const nominatedNode = pod !== undefined && needsNode(pod) ? this.#nominatedNodeOf(pod) : '';
    if (pod === undefined || nominatedNode === '') {
      this.#pods.delete(key);
      this.#unwritten.delete(key);
    } else {
      this.#pods.set(key, nominatedNode === pod.nominatedNode ? pod : { ...pod, nominatedNode });
    }
    const now = nominatedNode === '' ? pod?.nodeName : nominatedNode;
    return before === now ? undefined : before;
  }

  #nominatedNodeOf({ key, uid, nominatedNode }: PodRecord): string {
    const unwritten = this.#unwritten.get(key);
    if (unwritten?.uid === uid && unwritten.replaces === nominatedNode) return unwritten.nodeName;
    this.#unwritten.delete(key);
    return nominatedNode;
  }
}

interface UnwrittenNomination {
  readonly uid: string;
  readonly nodeName: string;
  /** The nomination that was written at that time; empty if there was none. As soon as another one is written, that one counts. */
  readonly replaces: string;
}
