/** The objects of a small cluster in plain maps for an oracle, and an index with the same objects. */
import type { Node, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { readPod } from '../../records/pod-record.ts';

/** An object is created, updated or (undefined) deleted; or a pod is assumed on a node, or its assumption is reverted. */
export type ModelEvent =
  | { readonly kind: 'Node'; readonly name: string; readonly object: Node | undefined }
  | { readonly kind: 'Pod'; readonly name: string; readonly object: Pod | undefined }
  | {
      readonly kind: 'PersistentVolumeClaim';
      readonly name: string;
      readonly object: PersistentVolumeClaim | undefined;
    }
  | { readonly kind: 'Assumption'; readonly name: string; readonly object: Pod | undefined };

type Objects = {
  readonly [K in ModelEvent['kind']]: Map<string, Extract<ModelEvent, { kind: K }>['object']>;
};

export class ObjectModel {
  readonly index = new ClusterIndex();
  #objects: Objects = {
    Node: new Map(),
    Pod: new Map(),
    PersistentVolumeClaim: new Map(),
    Assumption: new Map(),
  };

  /** Sorted by name, as the index has them. */
  nodes(): readonly Node[] {
    const nodes = [...this.#objects.Node.values()].filter((node) => node !== undefined);
    return nodes.sort((a, b) => (a.metadata!.name! < b.metadata!.name! ? -1 : 1));
  }

  claim(name: string): PersistentVolumeClaim | undefined {
    return this.#objects.PersistentVolumeClaim.get(name);
  }

  /** The unfinished pods on existing nodes: the stored pod once it has a node or is finished, the assumed pod until then. */
  podsOnNodes(): readonly Pod[] {
    const { Pod: stored, Assumption: assumed, Node: nodes } = this.#objects;
    return [...new Set([...stored.keys(), ...assumed.keys()])]
      .map((name) => {
        const known = stored.get(name);
        const hasFinalNode = (known?.spec?.nodeName ?? '') !== '' || isFinished(known);
        return hasFinalNode ? known : (assumed.get(name) ?? known);
      })
      .filter((pod) => pod !== undefined)
      .filter((pod) => !isFinished(pod) && nodes.get(pod.spec?.nodeName ?? '') !== undefined);
  }

  /** Applies the event to model and index, and returns the reported change. A new assumption is not reported. */
  apply({ kind, name, object }: ModelEvent): ClusterChange | undefined {
    const before = this.#objects[kind].get(name);
    (this.#objects[kind] as Map<string, typeof object>).set(name, object);
    const key = kind === 'Node' ? name : `default/${name}`;
    if (kind === 'Assumption') return this.#assume(key, before as Pod | undefined, object as Pod | undefined);
    return object === undefined
      ? this.index.remove(kind, key).change
      : this.index.upsert(kind, object as never).change;
  }

  #assume(key: string, before: Pod | undefined, after: Pod | undefined): ClusterChange | undefined {
    this.index.setAssumedPod(key, after && readPod(after));
    if (before === undefined || after !== undefined) return undefined;
    return { kind: 'Release', volumes: [], pools: [], nodeName: before.spec!.nodeName! };
  }

  /** Applies the events to index and model, and rolls both back. */
  applyAndRollBack(events: readonly ModelEvent[]): void {
    const known = this.#objects;
    const savepoint = this.index.savepoint();
    this.#objects = {
      Node: new Map(known.Node),
      Pod: new Map(known.Pod),
      PersistentVolumeClaim: new Map(known.PersistentVolumeClaim),
      Assumption: new Map(known.Assumption),
    };
    for (const event of events) this.apply(event);
    this.index.rollback(savepoint);
    this.#objects = known;
  }
}

function isFinished(pod: Pod | undefined): boolean {
  return pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
}
