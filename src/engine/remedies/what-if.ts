import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { indexKeyOf, type ObjectOf } from '../cluster-index/read-object.ts';
import { explainNodes } from '../evaluation/explain-nodes.ts';
import { filterNodes } from '../evaluation/filter-nodes.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { hasReason } from '../rules/framework/verdict.ts';
import type { ObjectSource, RemedyStep } from './remedy-step.ts';

/** The context that all what-if questions of a search share. */
export interface SearchContext {
  readonly index: ClusterIndex;
  readonly objects: ObjectSource;
  readonly nowMs: number;
  readonly rules: readonly AnyRule[];
  readonly budget: SearchBudget;
  /** Records of the pod before and after steps. Most steps do not change the pod, and reading it costs as much as evaluating a node. */
  readonly records: WeakMap<Pod, PodRecord>;
}

/** How many evaluations and explanations the search may still run. */
export interface SearchBudget {
  evaluations: number;
  explanations: number;
}

/**
 * The cluster after some steps, as one node sees it. The steps are in the index only while `withSteps` runs. Calls nest as savepoints do.
 */
export class WhatIf implements ObjectSource {
  readonly context: SearchContext;
  readonly node: string;
  readonly pod: Pod;
  readonly record: PodRecord;
  readonly #changed: ReadonlyMap<string, KubeObject>;

  constructor(
    context: SearchContext,
    node: string,
    pod: Pod,
    changed: ReadonlyMap<string, KubeObject> = new Map<string, KubeObject>(),
  ) {
    this.context = context;
    this.node = node;
    this.pod = pod;
    this.record = recordOf(context, pod);
    this.#changed = changed;
  }

  get index(): ClusterIndex {
    return this.context.index;
  }

  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined {
    const changed = this.#changed.get(`${kind} ${key}`);
    return changed === undefined ? this.context.objects.get(kind, key) : (changed as ObjectOf[K]);
  }

  /** Whether the pod fits on the node now; false when the budget is spent. */
  fits(): boolean {
    const { index, nowMs, rules, budget } = this.context;
    const row = index.nodes.row(this.node);
    if (row === undefined || budget.evaluations <= 0) return false;
    budget.evaluations -= 1;
    const { cycle, prepared } = filterNodes(this.record, index, { nowMs, rules, onlyNodes: [this.node] });
    return prepared.refusedBy === undefined && cycle.isFeasible(row);
  }

  /** Whether the rule of the finding, run alone, still refuses the node for the same reason. */
  refusesFor({ rule: name, reason }: Finding): boolean {
    const { index, nowMs, rules, budget } = this.context;
    const rule = rules.find((known) => known.name === name);
    const row = index.nodes.row(this.node);
    if (rule === undefined || row === undefined || budget.evaluations <= 0) return true;
    budget.evaluations -= 1;
    const { cycle, prepared } = filterNodes(this.record, index, {
      nowMs,
      rules: [rule],
      onlyNodes: [this.node],
    });
    if (prepared.refusedBy !== undefined) return true;
    return !cycle.isFeasible(row) && hasReason(cycle.verdicts[row]!, rule.reasons, reason);
  }

  /** Undefined if the pod can't run on any node, or the budget is spent. */
  findings(): readonly Finding[] | undefined {
    const { index, nowMs, rules, budget } = this.context;
    if (budget.explanations <= 0) return undefined;
    budget.explanations -= 1;
    const { podRefusals, nodes } = explainNodes(this.record, index, { nowMs, rules, onlyNodes: [this.node] });
    return podRefusals.length > 0 ? undefined : nodes[0]?.findings;
  }

  /** Calls `ask` with the steps applied, and reverts them. */
  withSteps<T>(steps: readonly RemedyStep[], ask: (whatIf: WhatIf) => T): T {
    const { index } = this.context;
    const savepoint = index.savepoint();
    try {
      return ask(this.#after(steps));
    } finally {
      index.rollback(savepoint);
    }
  }

  #after(steps: readonly RemedyStep[]): WhatIf {
    const changed = new Map(this.#changed);
    let { pod } = this;
    for (const edit of steps.flatMap(({ edits }) => edits)) {
      switch (edit.type) {
        case 'create':
          this.#put(edit.kind, edit.object, changed);
          break;
        case 'change': {
          const before =
            changed.get(`${edit.kind} ${edit.key}`) ?? this.context.objects.get(edit.kind, edit.key);
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
    return new WhatIf(this.context, this.node, pod, changed);
  }

  #put(kind: IndexedKind, object: KubeObject, changed: Map<string, KubeObject>): void {
    const { resourceVersion: _, ...metadata } = object.metadata ?? {};
    // Without a resourceVersion the index accepts the object, whichever version it has.
    const unversioned = { ...object, metadata };
    this.index.upsert(kind, unversioned);
    changed.set(`${kind} ${indexKeyOf(kind, unversioned)}`, unversioned);
  }
}

function recordOf({ records }: SearchContext, pod: Pod): PodRecord {
  const known = records.get(pod) ?? readPod(pod);
  records.set(pod, known);
  return known;
}
