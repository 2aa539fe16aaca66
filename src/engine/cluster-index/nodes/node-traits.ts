import type { NodeRecord } from '../../records/node-record.ts';
import { ImageTable } from './image-table.ts';
import { NodeSet } from './node-set.ts';
import { TaintTable } from './taint-table.ts';

/** Nodes by taints, images and unschedulable flag, so that a rule starts from the few nodes that matter to a pod. */
export class NodeTraits {
  readonly taints = new TaintTable();
  readonly images = new ImageTable();
  /** Nodes with `spec.unschedulable`. */
  readonly unschedulable = new NodeSet();

  /** `before` is undefined for a new node, `after` for a deleted one. */
  nodeChanged(row: number, before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    this.taints.set(row, after?.taints ?? []);
    this.images.change(row, before?.images ?? [], after?.images ?? []);
    if (after?.isUnschedulable === true) this.unschedulable.add(row);
    else this.unschedulable.delete(row);
  }
}
