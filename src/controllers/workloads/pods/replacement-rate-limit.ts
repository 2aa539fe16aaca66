import type { Int64, KubeObject } from '../../../kube/api/meta.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { TokenBucket } from '../../../runtime/token-bucket.ts';

/** The burst: every pod twice, and these. Failing nodes and users who delete pods stay far below it. */
const sparePods = 20;
/** The average rate: every pod once in this time, and one more every two seconds. */
const wholeSetSeconds = 30;
const podsPerSecondMin = 0.5;
/** Limits for sets of any size, so that a mistyped number of replicas can be corrected before the pods fill the memory. */
const burstMax = 10_000;
const podsPerSecondMax = 100;
/** Pods that were held back are created in batches: each batch reads all pods of the namespace. */
const batchMs = 1_000;

export interface ReplacementAllowance {
  /** How many pods may be created now. */
  readonly count: number;
  /** When one more may be created; undefined if none was held back. */
  readonly waitMs: number | undefined;
}

/**
 * Limits how fast a set may create pods while its spec does not change. Without it, pods that fail as soon as they are created, such as those whose
 * template names a node that rejects them, would be replaced as fast as the machine can. A changed set starts with a full burst.
 */
export class ReplacementRateLimit {
  readonly #clock: Clock;
  /** Key: the set's uid; an entry is removed with its set. */
  readonly #budgets = new Map<string, Budget>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** The allowed pods count as created. */
  take(set: KubeObject, replicas: number, count: number): ReplacementAllowance {
    if (count === 0) return { count, waitMs: undefined };
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(set, replicas, nowMs);
    for (let taken = 0; taken < count; taken++) {
      const waitMs = bucket.reserveMs(nowMs);
      if (waitMs === 0) continue;
      bucket.giveBack();
      // Whole milliseconds: a fraction left by rounding would be waited for without time passing.
      return { count: taken, waitMs: Math.max(Math.ceil(waitMs), batchMs) };
    }
    return { count, waitMs: undefined };
  }

  /** For a deleted set, or one whose pods the server rejects, which the queue's own back-off slows down. */
  forget(uid: string): void {
    this.#budgets.delete(uid);
  }

  #bucketOf({ metadata }: KubeObject, replicas: number, nowMs: number): TokenBucket {
    const { uid = '', generation = 0 } = metadata ?? {};
    const known = this.#budgets.get(uid);
    if (known?.generation === generation) return known.bucket;
    const tokensPerSecond = Math.min(replicas / wholeSetSeconds + podsPerSecondMin, podsPerSecondMax);
    const burst = Math.min(2 * replicas + sparePods, burstMax);
    const bucket = new TokenBucket({ tokensPerSecond, burst }, nowMs);
    this.#budgets.set(uid, { generation, bucket });
    return bucket;
  }
}

/** A requeue at the earliest of these times; undefined if there is none. */
export function soonestRequeue(times: readonly (number | undefined)[]): Requeue | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : { afterMs: Math.min(...known) };
}

interface Budget {
  readonly generation: Int64;
  readonly bucket: TokenBucket;
}
