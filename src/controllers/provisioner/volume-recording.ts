import type { Cluster } from '../../cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { isReason, isRefusal } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * After this time no request of a process that has ended can take effect any more: kube-apiserver ends a request after 60 seconds
 * (`--request-timeout`). The rest is for a proxy in between.
 */
const requestAgeMaxMs = 75_000;

/**
 * Creates PersistentVolumes, and knows which creations may still arrive.
 *
 * A creation names no version by which the server could refuse it. A creation without a response can take effect at any later time.
 * If the volume behind it were deleted meanwhile, the claim would be bound to a volume that does not exist. So a volume is withdrawn from
 * a claim that still waits for one only if no creation can be under way:
 *
 * - A creation of this process without an answer is repeated, with the same object, until the server answers one of them with success or
 *   AlreadyExists. From then on the name is taken, and whatever arrives late is refused.
 * - A creation of an earlier process may have been sent whenever the claim has an intent that this process did not write. The sender has
 *   ended, or lost its Lease, before this process started; so the withdrawal waits until the server has ended its requests.
 *
 * A claim that is deleted or bound elsewhere does not wait: no claim gets its uid again, so a PersistentVolume that arrives late is
 * released and reclaimed like any other, and deleting its volume again finds nothing.
 */
export class VolumeRecording {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #quietAtMs: number;
  /** The PersistentVolumes that were sent to the server without a response. Key: the uid of the claim. */
  readonly #unanswered = new Map<string, PersistentVolume>();
  /** Claims whose intent this process wrote. */
  readonly #begun = new Set<string>();

  constructor({ cluster, clock }: { readonly cluster: Cluster; readonly clock: Clock }) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#quietAtMs = clock.monotonicMs() + requestAgeMaxMs;
  }

  /** This process wrote the intent of the claim. */
  begin(claim: PersistentVolumeClaim): void {
    this.#begun.add(uidOf(claim));
  }

  /** The PersistentVolume exists, or cannot be created any more. */
  end(claim: PersistentVolumeClaim): void {
    this.#begun.delete(uidOf(claim));
    this.#unanswered.delete(uidOf(claim));
  }

  unanswered(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    return this.#unanswered.get(uidOf(claim));
  }

  /** How long to wait until no creation of an earlier process can take effect; 0 if there can be none. */
  quietInMs(claim: PersistentVolumeClaim): number {
    if (this.#begun.has(uidOf(claim))) return 0;
    return Math.max(0, this.#quietAtMs - this.#clock.monotonicMs());
  }

  /** False if a volume of this name exists already. */
  async create(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    signal: AbortSignal,
  ): Promise<boolean> {
    const wasUnanswered = this.#unanswered.has(uidOf(claim));
    this.#unanswered.set(uidOf(claim), volume);
    try {
      await this.#cluster.resource(persistentVolumes).create(volume, { signal });
      this.#unanswered.delete(uidOf(claim));
      return true;
    } catch (error) {
      // An earlier creation may still arrive, whatever the server thinks of this one.
      if (isReason(error, 'AlreadyExists') || (!wasUnanswered && isRefusal(error)))
        this.#unanswered.delete(uidOf(claim));
      if (isReason(error, 'AlreadyExists')) return false;
      throw error;
    }
  }
}

function uidOf({ metadata }: PersistentVolumeClaim): string {
  return metadata?.uid ?? '';
}
