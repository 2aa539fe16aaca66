import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { TokenBucket } from '../../../runtime/token-bucket.ts';

/** At once: every pod twice, and these. Nodes that fail and users who delete pods don't come near it. */
const sparePods = 20;
/** In the long run: every pod once in this time, and one more every two seconds. */
const wholeSetSeconds = 30;
const podsPerSecondMin = 0.5;

export interface ReplacementAllowance {
  /** How many pods may be made now. */
  readonly count: number;
  /** When there may be one more; undefined where none was held back. */
  readonly waitMs: number | undefined;
}

/**
 * How fast a set may make pods while nobody changes what it asks for. Pods that end as soon as they are made, such as those whose
 * template names a node that turns them away, would else be made up for as fast as the machine can. A changed set starts anew.
 */
export class ReplacementRateLimit {
  readonly #clock: Clock;
  /** By the set's uid; an entry goes with its set. */
  readonly #budgets = new Map<string, Budget>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Those that may be made count as made. */
  take(set: KubeObject, replicas: number, count: number): ReplacementAllowance {
    if (count === 0) return { count, waitMs: undefined };
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#bucketOf(set, replicas, nowMs);
    for (let taken = 0; taken < count; taken++) {
      const waitMs = bucket.reserveMs(nowMs);
      if (waitMs === 0) continue;
      bucket.giveBack();
      // Whole milliseconds: what is left by rounding would be waited for without any time going by.
      return { count: taken, waitMs: Math.ceil(waitMs) };
    }
    return { count, waitMs: undefined };
  }

  /** Of a set that is gone; or whose pods are refused, which the queue's own back-off slows down. */
  forget(uid: string): void {
    this.#budgets.delete(uid);
  }

  #bucketOf({ metadata }: KubeObject, replicas: number, nowMs: number): TokenBucket {
    const { uid = '', generation = 0 } = metadata ?? {};
    const known = this.#budgets.get(uid);
    if (known?.generation === generation) return known.bucket;
    const tokensPerSecond = replicas / wholeSetSeconds + podsPerSecondMin;
    const bucket = new TokenBucket({ tokensPerSecond, burst: 2 * replicas + sparePods }, nowMs);
    this.#budgets.set(uid, { generation, bucket });
    return bucket;
  }
}

/** A look at the earliest of these times; none where there is none. */
export function soonestRequeue(times: readonly (number | undefined)[]): Requeue | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : { afterMs: Math.min(...known) };
}

interface Budget {
  readonly generation: number;
  readonly bucket: TokenBucket;
}
