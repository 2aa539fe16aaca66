import { Decider } from '../../../src/controllers/scheduler/decider.ts';
import { refusedMessage } from '../../../src/controllers/scheduler/refused-message.ts';
import type { Kind } from '../../../src/engine/index/change.ts';
import { ClusterIndex } from '../../../src/engine/index/cluster-index.ts';
import type { Profile } from '../../../src/engine/index/profile.ts';
import { judge } from '../../../src/engine/judge.ts';
import { defaultRules } from '../../../src/engine/rules/default-rules.ts';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/core.ts';
import type { KubeObject } from '../../../src/kube/meta.ts';
import { fits, type Verdict } from './verdict.ts';

/** Our scheduler, as far as it decides. */
export class OurScheduler {
  readonly #index: ClusterIndex;
  readonly #nowMs: number;

  constructor(objects: ClusterObjects, profile: Profile, nowMs: number) {
    this.#nowMs = nowMs;
    this.#index = new ClusterIndex(profile);
    for (const kind of Object.keys(objects) as Kind[]) {
      for (const object of objects[kind] ?? []) this.#index.upsert(kind, object as never);
    }
  }

  /** The pod and the claims that were made for it are there, as in the cluster, while it is asked about. */
  ask(pod: Pod, claims: readonly PersistentVolumeClaim[]): Verdict {
    for (const claim of claims) this.#index.upsert('PersistentVolumeClaim', claim);
    this.#index.upsert('Pod', pod);
    try {
      return this.#decide(pod, keyOf(pod));
    } finally {
      this.#index.remove('Pod', keyOf(pod));
      for (const claim of claims) this.#index.remove('PersistentVolumeClaim', keyOf(claim));
    }
  }

  #decide(pod: Pod, key: string): Verdict {
    const record = this.#index.pods.stored(key)!;
    const decision = new Decider(this.#index, defaultRules, () => []).decide(pod, record, this.#nowMs);
    if (decision.kind === 'placement') {
      const nodes = this.#nodesFor(key);
      if (!nodes.includes(decision.node)) throw new Error(`${decision.node} was chosen, but does not fit`);
      return fits(nodes);
    }
    return {
      kind: 'refused',
      message: refusedMessage(decision.refusal, decision.preemption),
      makesRoom: decision.preemption.kind === 'victims',
    };
  }

  #nodesFor(key: string): string[] {
    const record = this.#index.pods.stored(key)!;
    const { cycle } = judge(record, this.#index, { nowMs: this.#nowMs, rules: defaultRules });
    const { nodes } = this.#index;
    return nodes.rowsByName.filter((row) => cycle.isFeasible(row)).map((row) => nodes.record(row)!.key);
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
