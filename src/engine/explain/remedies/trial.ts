import type { Pod } from '../../../kube/core.ts';
import type { KubeObject } from '../../../kube/meta.ts';
import type { Kind } from '../../index/change.ts';
import type { ClusterIndex } from '../../index/cluster-index.ts';
import { keyOf, type ObjectOf } from '../../index/read-object.ts';
import { judge } from '../../judge.ts';
import { type PodRecord, readPod } from '../../records/pod-record.ts';
import type { Finding } from '../../rules/finding.ts';
import type { AnyRule } from '../../rules/rule.ts';
import { explain } from '../explain.ts';
import type { ObjectSource, Step } from './step.ts';

export interface Ground {
  readonly index: ClusterIndex;
  readonly objects: ObjectSource;
  readonly nowMs: number;
  readonly rules: readonly AnyRule[];
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
    this.record = readPod(pod);
    this.#changed = changed;
  }

  get index(): ClusterIndex {
    return this.ground.index;
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf[K] | undefined {
    const changed = this.#changed.get(`${kind} ${key}`);
    return changed === undefined ? this.ground.objects.get(kind, key) : (changed as ObjectOf[K]);
  }

  /** Whether the pod fits on the node now. */
  fits(): boolean {
    const { index, nowMs, rules } = this.ground;
    const row = index.nodes.row(this.node);
    if (row === undefined) return false;
    const { cycle, prepared } = judge(this.record, index, { nowMs, rules, onlyNodes: [this.node] });
    return prepared.refusedBy === undefined && cycle.isFeasible(row);
  }

  /** Undefined where the pod can't run anywhere any more. */
  findings(): readonly Finding[] | undefined {
    const { index, nowMs, rules } = this.ground;
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
    let { pod, node } = this;
    for (const edit of steps.flatMap(({ edits }) => edits)) {
      switch (edit.type) {
        case 'put':
          this.index.upsert(edit.kind, edit.object);
          changed.set(`${edit.kind} ${nameOf(edit.kind, edit.object)}`, edit.object);
          break;
        case 'remove pod':
          this.index.remove('Pod', edit.key);
          break;
        case 'change pod':
          pod = edit.pod;
          break;
      }
    }
    const [first] = steps;
    if (first?.sort === 'CreateNode') node = first.object.name;
    return new Trial(this.ground, node, pod, changed);
  }
}

/** Objects are asked for by the name that people know, without what the index puts before it. */
function nameOf(kind: Kind, object: KubeObject): string {
  return (keyOf(kind, object) ?? '').replace(/^CSIStorageCapacity /, '');
}
