import type { BindingSession } from '../../bind/binding-session.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import { keyOf } from '../../kube/object-key.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import { evictVictims, type VictimEvictionContext } from './preemption/evict-victims.ts';

export interface PreemptionEvictionsOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly session: BindingSession;
  readonly signal: AbortSignal;
}

/** Evicts the victims of preemptors, one eviction at a time for each preemptor: a second decision meanwhile must evict no more pods. */
export class PreemptionEvictions {
  readonly #options: PreemptionEvictionsOptions;
  readonly #context: VictimEvictionContext;
  readonly #running = new Set<string>();

  constructor(options: PreemptionEvictionsOptions) {
    const { context, feed, session } = options;
    this.#options = options;
    this.#context = {
      cluster: context.cluster,
      events: context.events,
      clock: context.clock,
      noteWrite: (pod) => feed.recordWrite('Pod', pod),
      cancel: (pod) => session.cancel(keyOf(pod), 'preempted by a pod of higher priority'),
    };
  }

  /** False if the preemptor no longer needs a node. `nominated`: the pods that have a nominated node. */
  async evict(
    preemptor: Pod,
    { node, victims }: Extract<Preemption, { kind: 'victims' }>,
    nominated: readonly PodRecord[],
  ): Promise<boolean> {
    const uid = preemptor.metadata?.uid ?? '';
    if (this.#running.has(uid)) return true;
    this.#running.add(uid);
    const plan = {
      preemptor,
      node,
      victims: victims.flatMap(({ pod, isAssumed }) =>
        this.#stored(pod).map((stored) => ({ pod: stored, isAssumed })),
      ),
      nominated: nominated.flatMap((pod) => this.#stored(pod)),
    };
    try {
      return await evictVictims(this.#context, plan, this.#options.signal);
    } finally {
      this.#running.delete(uid);
    }
  }

  #stored({ key }: PodRecord): Pod[] {
    return [this.#options.feed.get('Pod', key) ?? []].flat();
  }
}
