import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import { listOf } from '../../kube/wire.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { groupNodes } from '../explain/node-groups.ts';
import { podsViolatingBudgets } from '../preemption/disruption-budget.ts';
import { needsNode } from '../records/pending-pod.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { WhatIfChange, WhatIfObjects } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import { copiesFor } from './copies.ts';
import { cordon, makeChange } from './make-change.ts';
import { removeOwnVolumes } from './own-volumes.ts';
import type {
  NodeDifference,
  PlacedCounts,
  PodCause,
  PodFate,
  PodOutcome,
  Prediction,
  StrandedReason,
  VolumeCopy,
} from './prediction.ts';
import { type SchedulingOptions, WhatIfScheduling } from './scheduling.ts';
import { WhatIfCluster } from './what-if-cluster.ts';
import { podKey, type WorkloadOptions, WorkloadPods } from './workload-pods.ts';

export interface PredictOptions extends SchedulingOptions, WorkloadOptions {}

/**
 * What happens if these changes are made, and controllers and the scheduler do their work: who moves, who is stranded and why, and which local volumes have
 * to be copied. Nodes and drives that are drained get nothing new from the start. Then nodes and drives are added; then the other changes are made, one
 * after the other, each when the cluster has come to rest; at last the pods and volumes leave what is drained. Pods that are pending now take part. Leaves
 * the index as it was; throws a WhatIfError if a change names what does not exist.
 */
export function predict(
  changes: readonly WhatIfChange[],
  index: ClusterIndex,
  objects: WhatIfObjects,
  options: PredictOptions,
): Prediction {
  const savepoint = index.savepoint();
  try {
    return new Predictor(index, objects, options).predict(changes);
  } finally {
    index.rollback(savepoint);
  }
}

/** What is known so far about a pod that a change affects. */
interface Fate {
  readonly pod: string;
  readonly owner: string;
  cause: PodCause;
  readonly from: string | undefined;
  /** The key of the pod now: a controller may have replaced it. */
  current: string;
  settled: PodOutcome | undefined;
  message: string | undefined;
}

/** The time from one change to the next. Pods that a later change creates are younger, which counts when some have to go. */
export const changeIntervalMs = 15_000;

/** An explanation visits every node; pods of one workload share it. */
const explanationsMax = 100;

class Predictor {
  readonly #index: ClusterIndex;
  readonly #options: PredictOptions;
  readonly #cluster: WhatIfCluster;
  readonly #workloads: WorkloadPods;
  readonly #scheduling: WhatIfScheduling;
  /** In the order in which they were affected. */
  readonly #fates: Fate[] = [];
  readonly #byPod = new Map<string, Fate>();
  readonly #drained: PodRecord[] = [];
  /** The uids of pods that their controller removes for good. */
  readonly #unwanted = new Set<string>();
  readonly #sets = new Map<string, { readonly set: StatefulSet; readonly cause: PodCause }>();
  readonly #copies: VolumeCopy[] = [];

  constructor(index: ClusterIndex, objects: WhatIfObjects, options: PredictOptions) {
    this.#index = index;
    this.#options = options;
    this.#cluster = new WhatIfCluster(index, objects, {
      nowMs: options.nowMs,
      onChange: (change) => this.#scheduling?.observe(change),
    });
    this.#workloads = new WorkloadPods(this.#cluster, options);
    this.#scheduling = new WhatIfScheduling(this.#cluster, options, {
      placed: (pod) => this.#placed(pod),
      evicting: (pod, stored) => this.#evicting(pod, stored),
      gone: (pod, stored) => this.#gone(pod, stored),
    });
  }

  predict(changes: readonly WhatIfChange[]): Prediction {
    const before = this.#counts();
    const podsBefore = this.#podsByNode();
    for (const pod of this.#pendingPods()) this.#enqueueKnown(pod);
    this.#scheduling.run();
    const stages = stagesOf(withLastScales(changes));
    for (const change of stages.drains) cordon(change, this.#cluster);
    for (const change of [...stages.additions, ...stages.others]) {
      makeChange(change, this.#sink());
      // An object that was applied may have opened a node or a drive again.
      for (const drain of stages.drains) cordon(drain, this.#cluster);
      this.#scheduling.run();
      this.#cluster.nowMs += changeIntervalMs;
    }
    for (const change of stages.drains) makeChange(change, this.#sink());
    this.#scheduling.evict(this.#drained);
    this.#scheduling.run();
    this.#noteBudgets();
    const missing = [...this.#sets.values()].flatMap(({ set, cause }) => this.#missingMembers(set, cause));
    const after = this.#counts();
    const nodes = this.#nodeDifferences(podsBefore);
    const known = this.#fates.flatMap((fate) => this.#finished(fate));
    // What the changes are about comes first.
    const fates = [...known, ...missing].toSorted(
      (a, b) => Number(a.cause === 'pending') - Number(b.cause === 'pending'),
    );
    const copies = [...this.#copies, ...copiesFor(fates, this.#cluster, this.#options)];
    return { fates, copies, nodes, before, after, notes: [...this.#cluster.notes] };
  }

  // ── The changes ──

  #sink(): ChangeSink {
    return {
      cluster: this.#cluster,
      workloads: this.#workloads,
      evict: (pod, cause) => {
        this.#fateOf(pod, cause).cause = cause;
        if (cause === 'scaled') this.#unwanted.add(pod.uid);
        if (cause === 'drained') this.#drained.push(pod);
        else this.#scheduling.evict([pod]);
      },
      settle: (pod, cause, outcome, message) => {
        const fate = this.#fateOf(pod, cause);
        fate.settled = outcome;
        fate.message = message;
      },
      created: (pod, cause) => {
        this.#newFate(pod, cause);
        this.#enqueue(pod, cause);
      },
      sync: (set, cause) => {
        this.#sets.set(setKey(set), { set, cause });
        this.#sync(set, cause);
      },
      addedNode: () => this.#scheduling.decideQueued(),
      copy: (copy) => this.#copies.push(copy),
    };
  }

  #recreate(fate: Fate, stored: Pod): void {
    const after = this.#workloads.afterGone(stored);
    switch (after.kind) {
      case 'lost':
        fate.settled = 'lost';
        return;
      case 'member':
        this.#sync(after.set, fate.cause);
        return;
      case 'replaced':
        fate.current = podKey(after.pod);
        this.#byPod.set(fate.current, fate);
        this.#enqueue(after.pod, fate.cause);
    }
  }

  /** Creates the members of a set that its policy allows now. */
  #sync(set: StatefulSet, cause: PodCause): void {
    const key = setKey(set);
    const current = this.#cluster.get('StatefulSet', key) ?? set;
    if (!this.#sets.has(key)) this.#sets.set(key, { set: current, cause });
    const isPlaced = (pod: string) => {
      const { nodeName = '', isDeleting = false } = this.#index.pods.get(pod) ?? {};
      return nodeName !== '' && !isDeleting;
    };
    for (const pod of this.#workloads.nextMembers(current, isPlaced)) this.#enqueue(pod, cause);
  }

  // ── Scheduling ──

  /** Pods that wait for a node, oldest first. Pods with scheduling gates are not in the queue. */
  #pendingPods(): readonly PodRecord[] {
    const pods = [...this.#index.pods.records()].filter(
      (pod) => needsNode(pod) && (this.#index.pods.get(pod.key)?.nodeName ?? '') === '',
    );
    const known = pods.flatMap((record) => {
      const pod = this.#cluster.get('Pod', record.key);
      const isGated = listOf(pod?.spec?.schedulingGates).length > 0;
      return pod === undefined || isGated ? [] : [{ record, created: pod.metadata?.creationTimestamp ?? '' }];
    });
    return known
      .sort(
        (a, b) =>
          compareTexts(a.created, b.created) ||
          a.record.key.length - b.record.key.length ||
          compareTexts(a.record.key, b.record.key),
      )
      .map(({ record }) => record);
  }

  #enqueueKnown(pod: PodRecord): void {
    if (this.#cluster.get('Pod', pod.key) === undefined) return;
    this.#fateOf(pod, 'pending');
    this.#scheduling.enqueue(pod);
  }

  #enqueue(pod: Pod, cause: PodCause): void {
    const record = this.#index.pods.stored(podKey(pod));
    if (record === undefined) return;
    if (!this.#byPod.has(record.key)) this.#newFate(pod, cause);
    this.#scheduling.enqueue(record);
    this.#scheduling.decideQueued();
  }

  #placed({ key, owner, namespace }: PodRecord): void {
    if (!isMember({ owner })) return;
    const set = this.#cluster.get('StatefulSet', `${namespace}/${owner.slice('StatefulSet/'.length)}`);
    // Only an ordered set waits for its members.
    if (set === undefined || set.spec?.podManagementPolicy === 'Parallel') return;
    this.#sync(set, this.#sets.get(setKey(set))?.cause ?? this.#byPod.get(key)?.cause ?? 'pending');
  }

  /** Most controllers create another pod as soon as one is being deleted; a StatefulSet waits until the name is free. */
  #evicting(pod: PodRecord, stored: Pod): void {
    const fate = this.#fateOf(pod, 'preempted');
    if (!this.#unwanted.has(pod.uid) && pod.owner !== '' && !isMember(pod)) this.#recreate(fate, stored);
  }

  #gone(pod: PodRecord, stored: Pod): void {
    removeOwnVolumes(this.#cluster, pod);
    const fate = this.#fateOf(pod, 'preempted');
    if (this.#unwanted.has(pod.uid)) fate.settled = 'removed';
    else if (pod.owner === '' || isMember(pod)) this.#recreate(fate, stored);
  }

  // ── Fates ──

  #fateOf(pod: PodRecord, cause: PodCause): Fate {
    const known = this.#byPod.get(pod.key);
    if (known !== undefined) return known;
    const { nodeName } = this.#index.pods.get(pod.key) ?? pod;
    const from = nodeName === '' ? undefined : nodeName;
    return this.#addFate({ pod: pod.key, owner: pod.owner, cause, from });
  }

  #newFate(pod: Pod, cause: PodCause): Fate {
    const record = this.#index.pods.stored(podKey(pod));
    return this.#addFate({ pod: podKey(pod), owner: record?.owner ?? '', cause, from: undefined });
  }

  #addFate(known: Pick<Fate, 'pod' | 'owner' | 'cause' | 'from'>): Fate {
    const fate = { ...known, current: known.pod, settled: undefined, message: undefined };
    this.#fates.push(fate);
    this.#byPod.set(fate.pod, fate);
    return fate;
  }

  #finished({ pod, owner, cause, from, current, settled, message }: Fate): readonly PodFate[] {
    const base = { pod, owner, cause, from, replacement: current === pod ? undefined : current };
    const nodeName = this.#index.pods.get(current)?.nodeName ?? '';
    const to = nodeName === '' ? undefined : nodeName;
    if (settled !== undefined) {
      const keeps = settled === 'stays' || settled === 'stuck';
      const why = message === undefined ? undefined : { message, podRefusals: [], groups: [] };
      return [{ ...base, outcome: settled, to: keeps ? to : undefined, why }];
    }
    if (to !== undefined)
      return [{ ...base, outcome: from === undefined ? 'placed' : 'moved', to, why: undefined }];
    if (this.#cluster.get('Pod', current) === undefined) return [];
    return [{ ...base, outcome: 'stranded', to, why: this.#whyStranded(current) }];
  }

  readonly #explained = new Map<string, StrandedReason>();

  #whyStranded(key: string): StrandedReason {
    const refusal = this.#scheduling.refusalOf(key);
    if (refusal === undefined) return { message: 'it is not scheduled', podRefusals: [], groups: [] };
    const { pod, podRefusals, message } = refusal;
    const own = pod.claims.length > 0 || pod.owner === '' ? key : '';
    const likeness = `${pod.namespace} ${pod.owner} ${pod.shape.key} ${own}`;
    const known = this.#explained.get(likeness);
    if (known !== undefined) return known;
    const isSkipped = podRefusals.length > 0 || this.#explained.size >= explanationsMax;
    const groups = isSkipped ? [] : groupNodes(refusal.explain().nodes, pod, this.#index);
    const reason = { message, podRefusals, groups };
    this.#explained.set(likeness, reason);
    return reason;
  }

  /** Members that were not created, because those before them have no node. */
  #missingMembers(set: StatefulSet, cause: PodCause): readonly PodFate[] {
    const { name } = set.metadata ?? {};
    const current = this.#cluster.get('StatefulSet', setKey(set)) ?? set;
    return this.#workloads.missingMembers(current).map((pod) => {
      const known = this.#byPod.get(pod);
      const message = `StatefulSet ${name} creates it when the pods before it are ready (podManagementPolicy OrderedReady)`;
      return {
        pod,
        owner: `StatefulSet/${name}`,
        cause: known?.cause ?? cause,
        outcome: 'stranded',
        from: known?.from,
        to: undefined,
        replacement: undefined,
        why: { message, podRefusals: [], groups: [] },
      };
    });
  }

  #noteBudgets(): void {
    const violating = podsViolatingBudgets(this.#drained, this.#options.budgets ?? []);
    if (violating.size > 0)
      this.#cluster.notes.add(
        `${violating.size} of ${this.#drained.length} evictions exceed what PodDisruptionBudgets allow at once; kubectl drain waits for replacements to be ready, and may wait without end`,
      );
  }

  // ── Counts ──

  #counts(): PlacedCounts {
    let placedPods = 0;
    let pendingPods = 0;
    for (const { key, isFinished } of this.#index.pods.records()) {
      if (isFinished) continue;
      if ((this.#index.pods.get(key)?.nodeName ?? '') === '') pendingPods += 1;
      else placedPods += 1;
    }
    return { nodes: this.#index.nodes.size, placedPods, pendingPods };
  }

  #podsByNode(): ReadonlyMap<string, number> {
    const { nodes, pods } = this.#index;
    return new Map(
      nodes.rowsByName.map((row) => {
        const { key } = nodes.record(row)!;
        return [key, [...pods.onNode(key)].length];
      }),
    );
  }

  #nodeDifferences(before: ReadonlyMap<string, number>): readonly NodeDifference[] {
    return [...this.#podsByNode()].flatMap(([node, podsAfter]) => {
      const podsBefore = before.get(node);
      if (podsBefore === podsAfter) return [];
      return [{ node, podsBefore: podsBefore ?? 0, podsAfter, isNew: podsBefore === undefined }];
    });
  }
}

function isMember({ owner }: Pick<PodRecord, 'owner'>): boolean {
  return owner.startsWith('StatefulSet/');
}

interface ChangeStages {
  readonly additions: readonly WhatIfChange[];
  readonly others: readonly WhatIfChange[];
  readonly drains: readonly WhatIfChange[];
}

function stagesOf(changes: readonly WhatIfChange[]): ChangeStages {
  const of = (...kinds: readonly WhatIfChange['kind'][]) =>
    changes.filter(({ kind }) => kinds.includes(kind));
  return {
    additions: of('add-nodes', 'add-drive'),
    others: of('scale', 'apply'),
    drains: of('drain-node', 'drain-drive'),
  };
}

/** A workload has the replicas that were asked for last. */
function withLastScales(changes: readonly WhatIfChange[]): readonly WhatIfChange[] {
  const last = new Map<string, WhatIfChange>();
  for (const change of changes)
    if (change.kind === 'scale') last.set(JSON.stringify(change.workload), change);
  return changes.filter(
    (change) => change.kind !== 'scale' || last.get(JSON.stringify(change.workload)) === change,
  );
}

function setKey({ metadata }: StatefulSet): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
