import { Decider } from '../../../src/controllers/scheduler/decider.ts';
import { refusedMessage } from '../../../src/controllers/scheduler/refused-message.ts';
import type { IndexedKind } from '../../../src/engine/cluster-index/cluster-change.ts';
import { ClusterIndex } from '../../../src/engine/cluster-index/cluster-index.ts';
import type { Profile } from '../../../src/engine/cluster-index/profile.ts';
import { filterNodes } from '../../../src/engine/evaluation/filter-nodes.ts';
import { bestCandidate, type PreemptionCandidate } from '../../../src/engine/preemption/best-candidate.ts';
import {
  type DisruptionBudget,
  readDisruptionBudget,
} from '../../../src/engine/preemption/disruption-budget.ts';
import { nominatedRivals } from '../../../src/engine/preemption/nominated-pods.ts';
import { planWithNominated } from '../../../src/engine/preemption/plan-with-nominated.ts';
import { victimsOnNode } from '../../../src/engine/preemption/victims-on-node.ts';
import { type PodRecord, readPod } from '../../../src/engine/records/pod-record.ts';
import { defaultRules } from '../../../src/engine/rules/default-rules.ts';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/api/core.ts';
import type { KubeObject } from '../../../src/kube/api/meta.ts';
import type { PodDisruptionBudget } from '../../../src/kube/api/policy.ts';
import { fits, type Verdict } from './verdict.ts';

/** The objects that both schedulers see. */
export interface ClusterView {
  readonly objects: ClusterObjects;
  readonly budgets: readonly PodDisruptionBudget[];
}

/** The decisions of our scheduler, without its writes. */
export class OurScheduler {
  readonly #index: ClusterIndex;
  readonly #budgets: readonly DisruptionBudget[];
  /** Pending pods that are nominated to a node. */
  readonly #nominated: readonly PodRecord[];
  readonly #nowMs: number;

  constructor({ objects, budgets }: ClusterView, profile: Profile, nowMs: number) {
    this.#nowMs = nowMs;
    this.#budgets = budgets.flatMap((budget) => readDisruptionBudget(budget) ?? []);
    this.#index = new ClusterIndex(profile);
    for (const kind of Object.keys(objects) as IndexedKind[]) {
      for (const object of objects[kind] ?? []) this.#index.upsert(kind, object as never);
    }
    this.#nominated = (objects.Pod ?? []).map(readPod).filter(({ nominatedNode }) => nominatedNode !== '');
  }

  /** The verdict on the pod. */
  ask(asked: StoredPod): Verdict {
    return this.#while(asked, () => this.#decide(asked.pod, keyOf(asked.pod)));
  }

  /** Whether evicting pods from `node` is at least as good as from `other`. */
  isNoWorse(asked: StoredPod, node: string, other: string): boolean {
    return this.#while(asked, () => {
      const candidates = [node, other].map((name) => this.#victimsOn(name, keyOf(asked.pod)));
      if (candidates.some((candidate) => candidate === undefined)) return false;
      const named = candidates.map((candidate, at) => ({ ...candidate!, node: `${at}` }));
      return bestCandidate(named, this.#nowMs)?.node === '0';
    });
  }

  /** Adds the pod and its claims to the index during the call, as they are in the cluster. */
  #while<T>({ pod, claims }: StoredPod, ask: () => T): T {
    for (const claim of claims) this.#index.upsert('PersistentVolumeClaim', claim);
    this.#index.upsert('Pod', pod);
    try {
      return ask();
    } finally {
      this.#index.remove('Pod', keyOf(pod));
      for (const claim of claims) this.#index.remove('PersistentVolumeClaim', keyOf(claim));
    }
  }

  #decide(pod: Pod, key: string): Verdict {
    const record = this.#index.pods.stored(key)!;
    const decider = new Decider(this.#index, defaultRules, () => this.#budgets);
    for (const waiting of this.#nominated) decider.nominate(waiting, waiting.nominatedNode);
    const decision = decider.decide(pod, record, this.#nowMs);
    if (decision.kind === 'placement') {
      const nodes = this.#nodesFor(pod, key);
      if (!nodes.includes(decision.node)) throw new Error(`${decision.node} was chosen, but does not fit`);
      return fits(nodes);
    }
    const { refusal, preemption } = decision;
    return {
      kind: 'refused',
      message: refusedMessage(refusal, preemption),
      preemptsOn: preemption.kind === 'victims' ? preemption.node : '',
    };
  }

  #nodesFor(pod: Pod, key: string): string[] {
    const record = this.#index.pods.stored(key)!;
    const options = { nowMs: this.#nowMs, rules: defaultRules };
    const { cycle } = filterNodes(record, this.#index, options);
    const { nodes } = this.#index;
    const names = nodes.rowsByName
      .filter((row) => cycle.isFeasible(row))
      .map((row) => nodes.record(row)!.key);
    return names.filter((name) => this.#fitsBesideNominated(pod, name));
  }

  #fitsBesideNominated(pod: Pod, node: string): boolean {
    const options = {
      nowMs: this.#nowMs,
      rules: defaultRules,
      nominated: this.#nominated,
      onlyNodes: [node],
    };
    return planWithNominated(pod, this.#index, options).kind === 'placement';
  }

  #victimsOn(node: string, key: string): PreemptionCandidate | undefined {
    const record = this.#index.pods.stored(key)!;
    const nominatedByNode = nominatedRivals(record, this.#index, this.#nominated);
    const options = { nowMs: this.#nowMs, rules: defaultRules, budgets: this.#budgets, nominatedByNode };
    const dryRun = victimsOnNode(record, node, this.#index, options);
    return dryRun.kind === 'candidate' ? dryRun.candidate : undefined;
  }
}

/** A pod as the server stored it, with the claims of its ephemeral volumes. */
export interface StoredPod {
  readonly pod: Pod;
  readonly claims: readonly PersistentVolumeClaim[];
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
