import type { Flights } from '../../bind/flight.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import { type EvictionContext, evictVictims } from './preemption/evict-victims.ts';

export interface EvictionsOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly flights: Flights;
  readonly signal: AbortSignal;
}

/** Has room made for pods, one eviction at a time for each of them: a second look meanwhile must not cost others their place. */
export class Evictions {
  readonly #options: EvictionsOptions;
  readonly #context: EvictionContext;
  readonly #underWay = new Set<string>();

  constructor(options: EvictionsOptions) {
    const { context, feed, flights } = options;
    this.#options = options;
    this.#context = {
      cluster: context.cluster,
      events: context.events,
      clock: context.clock,
      noteWrite: (pod) => feed.noteWrite('Pod', pod),
      cancel: (pod) => flights.get(keyOf(pod))?.cancel('preempted by a pod of higher priority') ?? false,
    };
  }

  /** False if the pod needs no room any more. `nominated`: the pods that wait for a node of their own. */
  async evict(
    preemptor: Pod,
    { node, victims }: Extract<Preemption, { kind: 'victims' }>,
    nominated: readonly PodRecord[],
  ): Promise<boolean> {
    const uid = preemptor.metadata?.uid ?? '';
    if (this.#underWay.has(uid)) return true;
    this.#underWay.add(uid);
    const order = {
      preemptor,
      node,
      victims: victims.flatMap(({ pod, isAssumed }) =>
        this.#stored(pod).map((stored) => ({ pod: stored, isAssumed })),
      ),
      nominated: nominated.flatMap((pod) => this.#stored(pod)),
    };
    try {
      return await evictVictims(this.#context, order, this.#options.signal);
    } finally {
      this.#underWay.delete(uid);
    }
  }

  #stored({ key }: PodRecord): Pod[] {
    return [this.#options.feed.get('Pod', key) ?? []].flat();
  }
}
