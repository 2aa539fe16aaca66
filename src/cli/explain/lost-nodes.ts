import type { PersistentVolume } from '../../kube/api/core.ts';
import { labels } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { PodReasonLine } from './explanation.ts';
import type { PodQuestion } from './pod-question.ts';

/**
 * Bound volumes of the pod that only nodes can use which do not exist any more: local disks of a node that was deleted, or that came back under another
 * name. No rule about the nodes that exist says that.
 */
export function lostNodeReasons({ record, index, view }: PodQuestion): readonly PodReasonLine[] {
  return record.claims.flatMap(({ key }) => {
    const volume = index.claims.get(key)?.volumeName ?? '';
    const stored = view.snapshot.get('PersistentVolume', volume);
    const nodes = stored === undefined ? [] : nodesNamedBy(stored);
    if (nodes.length === 0 || nodes.some((name) => exists(name, view.snapshot.values('Node')))) return [];
    const named =
      nodes.length === 1 ? `node ${nodes[0]}, which does not` : `nodes ${nodes.join(', ')}, which do not`;
    return [
      {
        reason: 'BoundVolumeUnreachable',
        sentence: `volume ${volume} is pinned to ${named} exist`,
        remedy: `start ${nodes[0]} again under this name; if its disk is lost, delete the claim and the pod, and restore the data from a copy`,
        claim: key,
        message: `PersistentVolume ${volume} can be used on no node of this cluster`,
      },
    ];
  });
}

/** The nodes by hostname or name, if every term of the volume's node affinity names some; else none. */
function nodesNamedBy({ spec }: PersistentVolume): readonly string[] {
  const terms = listOf(spec?.nodeAffinity?.required?.nodeSelectorTerms);
  const names = terms.map((term) =>
    [
      ...listOf(term?.matchExpressions).filter(({ key }) => key === labels.hostname),
      ...listOf(term?.matchFields).filter(({ key }) => key === 'metadata.name'),
    ].flatMap(({ operator, values }) => (operator === 'In' ? listOf(values).map(textOf) : [])),
  );
  return names.every((ofTerm) => ofTerm.length > 0) ? [...new Set(names.flat())].sort() : [];
}

function exists(
  name: string,
  nodes: Iterable<{ readonly metadata?: { readonly name?: string; readonly labels?: object } }>,
): boolean {
  for (const { metadata } of nodes) {
    const hostname = (metadata?.labels as Record<string, string> | undefined)?.[labels.hostname];
    if (metadata?.name === name || hostname === name) return true;
  }
  return false;
}
