import type { Node, Pod } from '../../../../kube/api/core.ts';
import { toleratesTaint } from '../../../../kube/selectors/tolerations.ts';

/** How long a pod may stay on a node with these taints: for each taint the first toleration counts, and of those the shortest. */
export function toleratedTimeMs({ spec }: Pod, node: Node): number {
  let toleratedMs = Number.POSITIVE_INFINITY;
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const toleration = (spec?.tolerations ?? []).find((candidate) => toleratesTaint(candidate, taint));
    if (toleration === undefined) return 0;
    const seconds = Number(toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY);
    toleratedMs = Math.min(toleratedMs, Math.max(0, seconds * 1000));
  }
  return toleratedMs;
}
