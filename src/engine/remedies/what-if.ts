import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Kind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { keyOf, type ObjectOf } from '../cluster-index/read-object.ts';
import { explain } from '../evaluation/explain-nodes.ts';
import { judge } from '../evaluation/filter-nodes.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { hasReason } from '../rules/framework/verdict.ts';
import type { ObjectSource, Step } from './remedy-step.ts';

/** What all trials of a search share. */
export interface Ground {
  readonly index: ClusterIndex;
  readonly objects: ObjectSource;
  readonly nowMs: number;
  readonly rules: readonly AnyRule[];
  readonly budget: Budget;
  /** Of the pod as it is and as steps would have it: most steps leave it as it is, and reading it costs as much as judging a node. */
  readonly records: WeakMap<Pod, PodRecord>;
}

/** How often the search may still ask; a question costs about the same, whoever asks. */
export interface Budget {
  judgements: number;
  explanations: number;
}

/**
 * The cluster as it would be after some steps, seen from one node. The steps are in the index only while `during` runs; trials nest as
 * savepoints do.
 */
export class Trial implements ObjectSource {
  readonly ground: Ground;
  readonly node: string;
  readonly pod: Pod;
  readonly record: PodRecord;
  readonly #changed: ReadonlyMap<string, KubeObject>;

  constructor(
    ground: Ground,
    node: string,
    pod: Pod,
    changed: ReadonlyMap<string, KubeObject> = new Map<string, KubeObject>(),
  ) {
    this.ground = ground;
    this.node = node;
    this.pod = pod;
    this.record = recordOf(ground, pod);
    this.#changed = changed;
  }

  get index(): ClusterIndex {
    return this.ground.index;
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf[K] | undefined {
    const changed = this.#changed.get(`${kind} ${key}`);
    return changed === undefined ? this.ground.objects.get(kind, key) : (changed as ObjectOf[K]);
  }

  /** Whether the pod fits on the node now; false when the search has asked too often. */
  fits(): boolean {
    const { index, nowMs, rules, budget } = this.ground;
    const row = index.nodes.row(this.node);
    if (row === undefined || budget.judgements <= 0) return false;
    budget.judgements -= 1;
    const { cycle, prepared } = judge(this.record, index, { nowMs, rules, onlyNodes: [this.node] });
    return prepared.refusedBy === undefined && cycle.isFeasible(row);
  }

  /** Whether the finding's rule, by itself, still refuses the node for the same reason. */
  refusesFor({ rule: name, reason }: Finding): boolean {
    const { index, nowMs, rules, budget } = this.ground;
    const rule = rules.find((known) => known.name === name);
    const row = index.nodes.row(this.node);
    if (rule === undefined || row === undefined || budget.judgements <= 0) return true;
    budget.judgements -= 1;
    const { cycle, prepared } = judge(this.record, index, { nowMs, rules: [rule], onlyNodes: [this.node] });
    if (prepared.refusedBy !== undefined) return true;
    return !cycle.isFeasible(row) && hasReason(cycle.verdicts[row]!, rule.reasons, reason);
  }

  /** Undefined where the pod can't run anywhere, or the search has asked too often. */
  findings(): readonly Finding[] | undefined {
    const { index, nowMs, rules, budget } = this.ground;
    if (budget.explanations <= 0) return undefined;
    budget.explanations -= 1;
    const { podRefusals, nodes } = explain(this.record, index, { nowMs, rules, onlyNodes: [this.node] });
    return podRefusals.length > 0 ? undefined : nodes[0]?.findings;
  }

  /** Calls `ask` with the steps taken, and takes them back. */
  during<T>(steps: readonly Step[], ask: (trial: Trial) => T): T {
    const { index } = this.ground;
    const savepoint = index.savepoint();
    try {
      return ask(this.#after(steps));
    } finally {
      index.rollback(savepoint);
    }
  }

  #after(steps: readonly Step[]): Trial {
    const changed = new Map(this.#changed);
    let { pod } = this;
    for (const edit of steps.flatMap(({ edits }) => edits)) {
      switch (edit.type) {
        case 'create':
          this.#put(edit.kind, edit.object, changed);
          break;
        case 'change': {
          const before =
            changed.get(`${edit.kind} ${edit.key}`) ?? this.ground.objects.get(edit.kind, edit.key);
          if (before !== undefined) this.#put(edit.kind, edit.change(before), changed);
          break;
        }
        case 'remove pod':
          this.index.remove('Pod', edit.key);
          break;
        case 'change pod':
          pod = edit.change(pod);
          break;
      }
    }
    return new Trial(this.ground, this.node, pod, changed);
  }

  #put(kind: Kind, object: KubeObject, changed: Map<string, KubeObject>): void {
    const { resourceVersion: _, ...metadata } = object.metadata ?? {};
    // Without a version the index takes it as news, whatever it knew before.
    const news = { ...object, metadata };
    this.index.upsert(kind, news);
    changed.set(`${kind} ${keyOf(kind, news)}`, news);
  }
}

function recordOf({ records }: Ground, pod: Pod): PodRecord {
  const known = records.get(pod) ?? readPod(pod);
  records.set(pod, known);
  return known;
}
