import type { NodeRecord } from '../../records/node-record.ts';
import { ImageTable } from './image-table.ts';
import { NodeSet } from './node-set.ts';
import { TaintTable } from './taint-table.ts';

/** Nodes by what they say of themselves, labels apart, so that a rule starts from the few that matter to a pod. */
export class NodeTraits {
  readonly taints = new TaintTable();
  readonly images = new ImageTable();
  /** Those with `spec.unschedulable`. */
  readonly unschedulable = new NodeSet();

  /** `before` and `after` are the node's records, undefined where it is absent. */
  nodeChanged(row: number, before: NodeRecord | undefined, after: NodeRecord | undefined): void {
    this.taints.set(row, after?.taints ?? []);
    this.images.change(row, before?.images ?? [], after?.images ?? []);
    if (after?.isUnschedulable === true) this.unschedulable.add(row);
    else this.unschedulable.delete(row);
  }
}
