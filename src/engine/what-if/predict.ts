import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import { listOf } from '../../kube/wire.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { podsViolatingBudgets } from '../preemption/disruption-budget.ts';
import { needsNode } from '../records/pending-pod.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { isInRange, ordinalOf } from '../workloads/stateful-set-members.ts';
import type { WhatIfChange, WhatIfObjects } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import { stagesOf } from './change-stages.ts';
import { copiesFor } from './copies.ts';
import { DeploymentRollouts, type RolledOut } from './deployment-rollouts.ts';
import { inlinePublicationMs, publishInlineVolumes } from './inline-entries.ts';
import { cordon, makeChange } from './make-change.ts';
import { removeOwnVolumes, volumeDeletionMs } from './own-volumes.ts';
import { type PendingOutcome, PodOutcomes } from './pod-outcomes.ts';
import type {
  NodeDifference,
  PlacedCounts,
  PodCause,
  PodOutcome,
  Prediction,
  VolumeCopy,
} from './prediction.ts';
import { resizeReplicaSet } from './resize.ts';
import { type SchedulingOptions, WhatIfScheduling } from './scheduling.ts';
import { WhatIfCluster } from './what-if-cluster.ts';
import { podKey, type WorkloadOptions, WorkloadPods } from './workload-pods.ts';

export interface PredictOptions extends SchedulingOptions, WorkloadOptions {}

/**
 * Predicts the effect of these changes, after the work of controllers and the scheduler: which pods move, which are stranded and why, and which local volumes have
 * to be copied. Nodes and drives that are drained get nothing new from the start. Then nodes and drives are added; then the other changes are made, one
 * after the other, each when the cluster is at rest; then the drained nodes and drives are emptied. Pods that are pending now take part. Leaves
 * the index as it was; throws a WhatIfError if a change names what does not exist.
 */
export function predict(
  changes: readonly WhatIfChange[],
  index: ClusterIndex,
  objects: WhatIfObjects,
  options: PredictOptions,
): Prediction {
  const steps = predictInSteps(changes, index, objects, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * As `predict`, step by step, for callers that have other work to do in between. The index and the objects must not change before the last step; a caller that
 * stops early calls `return`, which leaves the index as it was.
 */
export function* predictInSteps(
  changes: readonly WhatIfChange[],
  index: ClusterIndex,
  objects: WhatIfObjects,
  options: PredictOptions,
): Generator<void, Prediction, void> {
  const savepoint = index.savepoint();
  try {
    return yield* new Predictor(index, objects, options).predict(changes);
  } finally {
    index.rollback(savepoint);
  }
}

/** The time from one change to the next. Pods that a later change creates are younger, which counts when some have to go. */
export const changeIntervalMs = 15_000;

/** The time from one object of a file to the next: controllers have done their immediate work, and no pod has ended. */
const applyIntervalMs = 50;

/** The Job controller collects what happens to pods for a while before it creates others: those of other controllers come first. */
const jobReplacementMs = 170;

class Predictor {
  readonly #index: ClusterIndex;
  readonly #options: PredictOptions;
  readonly #cluster: WhatIfCluster;
  readonly #workloads: WorkloadPods;
  readonly #scheduling: WhatIfScheduling;
  readonly #rollouts: DeploymentRollouts;
  readonly #outcomes: PodOutcomes;
  readonly #sink: ChangeSink;
  #drains: readonly WhatIfChange[] = [];
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
    this.#workloads = new WorkloadPods(this.#cluster, options, (work) => this.#scheduling.after(0, work));
    this.#rollouts = new DeploymentRollouts(this.#cluster);
    this.#outcomes = new PodOutcomes(this.#cluster);
    this.#scheduling = new WhatIfScheduling(this.#cluster, options, {
      placed: (pod) => this.#placed(pod),
      evicting: (pod, stored) => this.#evicting(pod, stored),
      gone: (pod, stored) => this.#gone(pod, stored),
    });
    this.#sink = this.#newSink();
  }

  *predict(changes: readonly WhatIfChange[]): Generator<void, Prediction, void> {
    const before = this.#counts();
    const podsBefore = this.#podsByNode();
    for (const pod of this.#pendingPods()) this.#enqueueKnown(pod);
    yield* this.#rest();
    let changedMs = this.#cluster.nowMs;
    const stages = stagesOf(changes);
    this.#drains = stages.drains;
    this.#cordonDrained();
    for (const change of [...stages.additions, ...stages.others]) {
      makeChange(change, this.#sink);
      yield* this.#rest();
      changedMs += changeIntervalMs;
      this.#cluster.nowMs = Math.max(this.#cluster.nowMs, changedMs);
    }
    for (const change of stages.drains) makeChange(change, this.#sink);
    this.#scheduling.evict(this.#drained);
    yield* this.#rest();
    this.#noteBudgets();
    const missing = [...this.#sets.values()].flatMap(({ set, cause }) => this.#missingMembers(set, cause));
    const after = this.#counts();
    const nodes = this.#nodeDifferences(podsBefore);
    const known: PodOutcome[] = [];
    for (const outcome of this.#outcomes.finished(this.#scheduling)) {
      known.push(outcome);
      yield;
    }
    // Outcomes that the changes cause come before those of pods that were pending already.
    const outcomes = [...known, ...missing].toSorted(
      (a, b) => Number(a.cause === 'pending') - Number(b.cause === 'pending'),
    );
    const copies = [...this.#copies, ...copiesFor(outcomes, this.#cluster, this.#options)];
    return { outcomes, copies, nodes, before, after, notes: [...this.#cluster.notes] };
  }

  /** Makes steps until no work is left. */
  *#rest(): Generator<void, void, void> {
    while (this.#scheduling.step()) yield;
  }

  // ── The changes ──

  #cordonDrained(): void {
    for (const drain of this.#drains) cordon(drain, this.#cluster);
  }

  #newSink(): ChangeSink {
    return {
      cluster: this.#cluster,
      workloads: this.#workloads,
      later: (work) => this.#scheduling.later(work),
      apply: (number, work) =>
        this.#scheduling.after(number * applyIntervalMs, () => {
          work();
          // The object may have opened a node or a drive again.
          this.#cordonDrained();
        }),
      moves: () => this.#scheduling.moves,
      evict: (pod, cause) => {
        this.#outcomes.leaving(pod, cause);
        if (cause === 'scaled') this.#unwanted.add(pod.uid);
        if (cause === 'drained') this.#drained.push(pod);
        else this.#scheduling.evict([pod]);
      },
      settle: (pod, cause, kind, message) => {
        if (this.#drained.some(({ key }) => key === pod.key)) return;
        const outcome = this.#outcomes.of(pod, cause);
        outcome.settled = kind;
        outcome.message = message;
      },
      created: (pod, cause) => this.#enqueue(pod, cause),
      sync: (set, cause) => {
        this.#sets.set(podKey(set), { set, cause });
        this.#sync(set, cause);
      },
      rollOut: (deployment, cause) => this.#rollOut(this.#rollouts.apply(deployment, cause)),
      copy: (copy) => this.#copies.push(copy),
    };
  }

  #recreate(outcome: PendingOutcome, stored: Pod): void {
    const after = this.#workloads.afterGone(stored);
    switch (after.kind) {
      case 'lost':
        outcome.settled = 'lost';
        return;
      case 'complete':
        return;
      case 'member':
        this.#sync(after.set, outcome.cause);
        return;
      case 'replaced':
        this.#outcomes.replaced(outcome, after.pod);
        this.#enqueue(after.pod, outcome.cause);
    }
  }

  /** The controller of a StatefulSet creates and deletes the members that its policies allow now. */
  #sync(set: StatefulSet, cause: PodCause): void {
    const key = podKey(set);
    const current = this.#cluster.get('StatefulSet', key) ?? set;
    if (!this.#sets.has(key)) this.#sets.set(key, { set: current, cause });
    const { create, remove } = this.#workloads.setSteps(current);
    for (const next of create)
      this.#scheduling.later(() => {
        const pod = next();
        if (pod !== undefined) this.#enqueue(pod, cause);
      });
    // A controller creates so many pods in one pass, and then reconciles again.
    if (create.length > 1) this.#scheduling.later(() => this.#sync(current, cause));
    for (const pod of remove) {
      const record = this.#index.pods.get(podKey(pod));
      if (record === undefined) continue;
      this.#sink.evict(record, isInRange(current, ordinalOf(pod) ?? -1) ? 'applied' : 'scaled');
    }
  }

  /** The controller of a Deployment changes the sizes of its ReplicaSets, as far as its strategy allows now. */
  #rollOut(rolledOut: RolledOut): void {
    const resizes = this.#rollouts.steps(rolledOut);
    for (const { set } of resizes) resizeReplicaSet(set, rolledOut.cause, this.#sink);
    if (resizes.length > 0) this.#scheduling.later(() => this.#rollOut(rolledOut));
  }

  /** The number of available pods of a ReplicaSet has changed. */
  #rollOutLater(namespace: string, replicaSet: string): void {
    const rolledOut = this.#rollouts.of(namespace, replicaSet);
    if (rolledOut !== undefined) this.#scheduling.later(() => this.#rollOut(rolledOut));
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
    this.#outcomes.of(pod, 'pending');
    this.#scheduling.enqueue(pod);
  }

  #enqueue(pod: Pod, cause: PodCause): void {
    const record = this.#index.pods.stored(podKey(pod));
    if (record === undefined) return;
    this.#outcomes.created(pod, cause);
    this.#scheduling.enqueue(record);
  }

  #placed(pod: PodRecord): void {
    const { key, owner, namespace } = pod;
    if (pod.inlineVolumes.some(({ drive }) => drive !== undefined))
      this.#scheduling.after(inlinePublicationMs, () => publishInlineVolumes(this.#cluster, pod));
    const [kind, name = ''] = owner.split('/');
    // A pod is ready a while after it was placed: those that were created with it have a place by then.
    if (kind === 'ReplicaSet') this.#scheduling.lastly(() => this.#rollOutLater(namespace, name));
    if (kind !== 'StatefulSet') return;
    const set = this.#cluster.get('StatefulSet', `${namespace}/${name}`);
    if (set === undefined) return;
    // Only an ordered set, and an update, wait for members.
    if (set.spec?.podManagementPolicy === 'Parallel' && !this.#workloads.isUpdating(set)) return;
    const cause = this.#sets.get(podKey(set))?.cause ?? this.#outcomes.known(key)?.cause ?? 'pending';
    this.#scheduling.later(() => this.#sync(set, cause));
  }

  /** Most controllers create another pod as soon as one is being deleted, a Job soon afterwards; a StatefulSet waits until the name is free. */
  #evicting(pod: PodRecord, stored: Pod): void {
    const outcome = this.#outcomes.of(pod, 'preempted');
    if (this.#unwanted.has(pod.uid) || pod.owner === '' || isMember(pod)) return;
    const [kind, name = ''] = pod.owner.split('/');
    if (kind === 'Job') {
      this.#scheduling.after(jobReplacementMs, () => this.#recreate(outcome, stored));
      return;
    }
    this.#recreate(outcome, stored);
    if (kind === 'ReplicaSet') this.#rollOutLater(pod.namespace, name);
  }

  #gone(pod: PodRecord, stored: Pod): void {
    const deleteVolumes = removeOwnVolumes(this.#cluster, pod);
    if (deleteVolumes !== undefined) this.#scheduling.after(volumeDeletionMs, deleteVolumes);
    const outcome = this.#outcomes.of(pod, 'preempted');
    if (!this.#unwanted.has(pod.uid)) {
      if (pod.owner === '' || isMember(pod)) this.#recreate(outcome, stored);
      return;
    }
    outcome.settled = 'removed';
    const [kind, name = ''] = pod.owner.split('/');
    if (kind === 'StatefulSet') {
      // An ordered set removes the next one now.
      const set = this.#cluster.get('StatefulSet', `${pod.namespace}/${name}`);
      if (set !== undefined) this.#sync(set, outcome.cause);
      return;
    }
    this.#rollOutLater(pod.namespace, name);
  }

  /** Members that were not created, because those before them have no node. */
  #missingMembers(set: StatefulSet, cause: PodCause): readonly PodOutcome[] {
    const { name } = set.metadata ?? {};
    const current = this.#cluster.get('StatefulSet', podKey(set)) ?? set;
    return this.#workloads.missingMembers(current).map((pod) => {
      const known = this.#outcomes.known(pod);
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

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
