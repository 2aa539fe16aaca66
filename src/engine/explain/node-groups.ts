import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeExplanation } from '../evaluation/explain-nodes.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Finding, Margin } from '../rules/framework/finding.ts';
import type { NodeReason } from '../rules/reasons.ts';
import { findingDetail } from './finding-detail.ts';

/** Nodes that refuse the pod for the same reasons. */
export interface NodeGroup {
  /** Sorted by name. */
  readonly nodes: readonly string[];
  readonly reasons: readonly GroupReason[];
}

export interface GroupReason {
  readonly rule: string;
  readonly reason: NodeReason;
  readonly claim: string | undefined;
  /** The taint, label, port or volume that the reason is about. */
  readonly detail: string;
  readonly range: MarginRange | undefined;
}

/** The numbers behind a reason, over all nodes of the group. */
export interface MarginRange {
  readonly unit: Margin['unit'];
  /** The resource or the driver; empty for bytes of volumes. */
  readonly of: string;
  readonly needed: number;
  /** Free bytes without those that are promised to others. */
  readonly freeLeast: number;
  readonly freeMost: number;
}

/** Groups nodes with the same reasons; thousands of nodes form a few groups. Groups with the fewest reasons come first, then the largest. */
export function groupNodes(
  nodes: readonly NodeExplanation[],
  pod: PodRecord,
  index: ClusterIndex,
): readonly NodeGroup[] {
  const groups = new Map<string, Group>();
  for (const { node, findings } of nodes) {
    if (findings.length === 0) continue;
    const reasons = findings.map((finding) => reasonOf(finding, findingDetail(finding, pod, node, index)));
    const key = reasons.map(keyOf).join('\n');
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { nodes: [node], reasons });
    else {
      known.nodes.push(node);
      known.reasons = known.reasons.map((reason, at) => widened(reason, reasons[at]!.range));
    }
  }
  return [...groups.values()].sort(
    (a, b) =>
      a.reasons.length - b.reasons.length ||
      b.nodes.length - a.nodes.length ||
      (a.nodes[0]! < b.nodes[0]! ? -1 : 1),
  );
}

interface Group {
  readonly nodes: string[];
  reasons: readonly GroupReason[];
}

function reasonOf({ rule, reason, claim, margin }: Finding, detail: string): GroupReason {
  return { rule, reason, claim, detail, range: margin && rangeOf(margin) };
}

function rangeOf(margin: Margin): MarginRange | undefined {
  switch (margin.unit) {
    case 'bytes': {
      const free = margin.free.bytes - margin.promised.bytes;
      // The pool has enough free bytes, so something else about it is the obstacle; its candidates say what.
      if (free >= margin.needed.bytes) return undefined;
      return { unit: 'bytes', of: '', needed: margin.needed.bytes, freeLeast: free, freeMost: free };
    }
    case 'volumes':
      return { unit: 'volumes', of: margin.driver, ...needAndFree(margin) };
    case 'resource':
      return { unit: 'resource', of: margin.resource, ...needAndFree(margin) };
  }
}

function needAndFree({ needed, free }: { readonly needed: number; readonly free: number }) {
  return { needed, freeLeast: free, freeMost: free };
}

/** The properties that the nodes of a group share. Their free resources may differ, and so may the skew of a spread constraint. */
function keyOf({ reason, claim, detail, range }: GroupReason): string {
  return [reason, claim ?? '', detail, range?.of ?? ''].join('\t');
}

function widened(reason: GroupReason, other: MarginRange | undefined): GroupReason {
  const { range } = reason;
  if (other === undefined) return reason;
  if (range === undefined) return { ...reason, range: other };
  return {
    ...reason,
    range: {
      ...range,
      needed: Math.max(range.needed, other.needed),
      freeLeast: Math.min(range.freeLeast, other.freeLeast),
      freeMost: Math.max(range.freeMost, other.freeMost),
    },
  };
}
