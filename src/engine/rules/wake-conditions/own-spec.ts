import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { Interest } from '../framework/rule.ts';

/** Whether the spec of the pod itself changed. Every rule about the spec then has to decide again. */
export function isOwnSpecChange({ pod }: Interest, change: ClusterChange): boolean {
  return change.kind === 'Pod' && change.after?.key === pod.key && change.after.shape.key !== pod.shape.key;
}
