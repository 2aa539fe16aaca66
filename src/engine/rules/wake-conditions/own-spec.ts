import type { ClusterChange } from '../../cluster-index/cluster-change.ts';
import type { Interest } from '../framework/rule.ts';

/** The pod itself asks for something else now; every rule about its spec looks again then. */
export function isOwnSpecChange({ pod }: Interest, change: ClusterChange): boolean {
  return change.kind === 'Pod' && change.after?.key === pod.key && change.after.shape.key !== pod.shape.key;
}
