import type { Pod } from '../../kube/api/core.ts';
import { groupNodes } from '../explain/node-groups.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { PodCause, PodOutcome, PodOutcomeKind, StrandedReason } from './prediction.ts';
import type { WhatIfScheduling } from './scheduling.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';
import { podKey } from './workload-pods.ts';

/** The outcome so far of a pod that a change affects. */
export interface PendingOutcome {
  readonly pod: string;
  readonly owner: string;
  cause: PodCause;
  readonly from: string | undefined;
  /** The key of the pod now: a controller may have replaced it. */
  current: string;
  settled: PodOutcomeKind | undefined;
  message: string | undefined;
}

/** An explanation visits every node; pods of one workload share it. */
const explanationsMax = 100;

/** The outcomes of the pods that changes affect, in the order in which they were affected. */
export class PodOutcomes {
  readonly #cluster: WhatIfCluster;
  readonly #outcomes: PendingOutcome[] = [];
  readonly #byPod = new Map<string, PendingOutcome>();
  readonly #explained = new Map<string, StrandedReason>();

  constructor(cluster: WhatIfCluster) {
    this.#cluster = cluster;
  }

  known(key: string): PendingOutcome | undefined {
    return this.#byPod.get(key);
  }

  /** The outcome of a pod of the cluster; a new one has the cause. */
  of(pod: PodRecord, cause: PodCause): PendingOutcome {
    const known = this.#byPod.get(pod.key);
    if (known !== undefined) return known;
    const { nodeName } = this.#cluster.index.pods.get(pod.key) ?? pod;
    const from = nodeName === '' ? undefined : nodeName;
    return this.#add({ pod: pod.key, owner: pod.owner, cause, from });
  }

  /** The pod leaves its node, whatever was to become of it there. */
  leaving(pod: PodRecord, cause: PodCause): void {
    const outcome = this.of(pod, cause);
    outcome.cause = cause;
    outcome.settled = undefined;
    outcome.message = undefined;
  }

  /** A pod that did not exist before, or that comes back under its name. */
  created(pod: Pod, cause: PodCause): void {
    const key = podKey(pod);
    const known = this.#byPod.get(key);
    if (known !== undefined) {
      known.settled = undefined;
      known.message = undefined;
      return;
    }
    const record = this.#cluster.index.pods.stored(key);
    this.#add({ pod: key, owner: record?.owner ?? '', cause, from: undefined });
  }

  /** A controller has created another pod in place of this one. */
  replaced(outcome: PendingOutcome, pod: Pod): void {
    outcome.current = podKey(pod);
    this.#byPod.set(outcome.current, outcome);
  }

  /** The answers, one after the other: an explanation takes time. */
  *finished(scheduling: WhatIfScheduling): Generator<PodOutcome, void, void> {
    for (const outcome of this.#outcomes) yield* this.#finish(outcome, scheduling);
  }

  #add(known: Pick<PendingOutcome, 'pod' | 'owner' | 'cause' | 'from'>): PendingOutcome {
    const outcome = { ...known, current: known.pod, settled: undefined, message: undefined };
    this.#outcomes.push(outcome);
    this.#byPod.set(outcome.pod, outcome);
    return outcome;
  }

  #finish(
    { pod, owner, cause, from, current, settled, message }: PendingOutcome,
    scheduling: WhatIfScheduling,
  ): readonly PodOutcome[] {
    const base = { pod, owner, cause, from, replacement: current === pod ? undefined : current };
    const nodeName = this.#cluster.index.pods.get(current)?.nodeName ?? '';
    const to = nodeName === '' ? undefined : nodeName;
    if (settled !== undefined) {
      const keeps = settled === 'stays' || settled === 'stuck';
      const why = message === undefined ? undefined : { message, podRefusals: [], groups: [] };
      return [{ ...base, outcome: settled, to: keeps ? to : undefined, why }];
    }
    if (to !== undefined)
      return [{ ...base, outcome: from === undefined ? 'placed' : 'moved', to, why: undefined }];
    if (this.#cluster.get('Pod', current) === undefined) return [];
    return [{ ...base, outcome: 'stranded', to, why: this.#whyStranded(current, scheduling) }];
  }

  #whyStranded(key: string, scheduling: WhatIfScheduling): StrandedReason {
    const refusal = scheduling.refusalOf(key);
    if (refusal === undefined) return { message: 'it is not scheduled', podRefusals: [], groups: [] };
    const { pod, podRefusals, message } = refusal;
    const own = pod.claims.length > 0 || pod.owner === '' ? key : '';
    const likeness = `${pod.namespace} ${pod.owner} ${pod.shape.key} ${own}`;
    const known = this.#explained.get(likeness);
    if (known !== undefined) return known;
    const isSkipped = podRefusals.length > 0 || this.#explained.size >= explanationsMax;
    const groups = isSkipped ? [] : groupNodes(refusal.explain().nodes, pod, this.#cluster.index);
    const reason = { message, podRefusals, groups };
    this.#explained.set(likeness, reason);
    return reason;
  }
}
