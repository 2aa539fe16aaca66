import type { Pod } from '../../../../kube/api/core.ts';
import { isFinished } from '../../../../kube/pods.ts';

/** 10.128.0.0/10, which no cluster is likely to reach from outside anyway: nothing listens there. */
const firstAddress = (10 << 24) + (128 << 16) + 1;
const addressCount = 2 ** 22 - 2;

/**
 * The addresses of pods. The pods' status is the source; this class only knows the pods it was given, and the addresses it assigned since. It
 * assigns addresses in a cycle, so that a freed address is not reused immediately.
 */
export class PodAddresses {
  readonly #byPod = new Map<string, string>();
  readonly #used = new Set<string>();
  #next = 0;

  /** A pod as the server has it. */
  note(pod: Pod): void {
    const { uid = '' } = pod.metadata ?? {};
    const address = pod.status?.podIP;
    if (isFinished(pod)) this.forget(pod);
    else if (address !== undefined) this.#keep(uid, address);
  }

  forget({ metadata }: Pod): void {
    const address = this.#byPod.get(metadata?.uid ?? '');
    if (address === undefined) return;
    this.#byPod.delete(metadata?.uid ?? '');
    this.#used.delete(address);
  }

  /** The pod's address, the same for every call; undefined if all are in use. */
  take({ metadata }: Pod): string | undefined {
    const uid = metadata?.uid ?? '';
    const known = this.#byPod.get(uid);
    if (known !== undefined) return known;
    for (let tried = 0; tried < addressCount; tried += 1) {
      const address = textOf(firstAddress + this.#next);
      this.#next = (this.#next + 1) % addressCount;
      if (this.#used.has(address)) continue;
      this.#keep(uid, address);
      return address;
    }
    return undefined;
  }

  #keep(uid: string, address: string): void {
    this.#byPod.set(uid, address);
    this.#used.add(address);
  }
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}
