import { needsNode } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';

/**
 * The pods that have a nominated node: their victims are being evicted there, or their volumes are there. What is decided counts before it is written, as in
 * kube-scheduler: a new nomination, another one, or none any more.
 */
export class Nominations {
  readonly #pods = new Map<string, PodRecord>();
  readonly #unwritten = new Map<string, UnwrittenNomination>();

  /** All nominated pods, in no particular order. */
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

  /**
   * Ends the nomination of the pod before that is written: other pods may have its place immediately. An update that still has the written nomination does not bring
   * it back. If the process ends before the write, the next one reads the nomination, decides on the pod, and ends it again; if the write fails,
   * `forgetUnwritten` makes it count again, because it is what other clients see.
   */
  unnominate({ key, uid, nominatedNode: replaces }: PodRecord): void {
    if (replaces === '') this.#unwritten.delete(key);
    else this.#unwritten.set(key, { uid, nodeName: '', replaces });
    this.#pods.delete(key);
  }

  /** The node that the pod is nominated to, written or not; empty if there is none. */
  nodeOf(key: string): string {
    return this.#pods.get(key)?.nominatedNode ?? '';
  }

  /** Goes back to what is written. Returns what `observe` returns. */
  forgetUnwritten(key: string, pod: PodRecord | undefined): string | undefined {
    this.#unwritten.delete(key);
    return this.observe(key, pod);
  }

  /** Returns the node that the pod was nominated to, if it is no longer nominated to it and was not bound to it. */
  observe(key: string, pod: PodRecord | undefined): string | undefined {
    const before = this.#pods.get(key)?.nominatedNode;
    const isWaiting = pod !== undefined && needsNode(pod);
    if (!isWaiting) this.#unwritten.delete(key);
    const nominatedNode = isWaiting ? this.#nominatedNodeOf(pod) : '';
    if (nominatedNode === '') this.#pods.delete(key);
    else this.#pods.set(key, nominatedNode === pod!.nominatedNode ? pod! : { ...pod!, nominatedNode });
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
  /** Empty: it is no longer nominated. */
  readonly nodeName: string;
  /** The nomination that was written at that time; empty if there was none. As soon as another one is written, that one counts. */
  readonly replaces: string;
}
