import { drivesDriver } from '../../../kube/stowage/drive.ts';
import type { PodExplanation, VolumeWaitLine } from '../explanation.ts';

/** Why a pod is pending, without what distinguishes it from other pods with the same problem. */
export interface Cause {
  readonly text: string;
  readonly reasons: readonly string[];
}

export function causeOf(explanation: PodExplanation): Cause {
  const { podReasons, nodes, verdict, reported, waitsFor } = explanation;
  if (verdict === 'unknown' && reported !== undefined && reported !== '')
    return { text: `its scheduler reports: ${reported}`, reasons: [] };
  if (verdict === 'waiting') return { text: [...new Set(waitsFor.map(waitText))].join('; '), reasons: [] };
  if (podReasons.length > 0)
    return {
      text: [
        ...new Set(
          podReasons.map(({ sentence, waitsFor }) =>
            waitsFor === undefined ? sentence : `the claim ${waitsFor}`,
          ),
        ),
      ].join('; '),
      reasons: codes(podReasons),
    };
  if (nodes.groups.length > 0)
    return { text: nodesText(nodes), reasons: codes(nodes.groups.flatMap(({ reasons }) => reasons)) };
  return { text: withoutName(explanation), reasons: [] };
}

function waitText({ reason, provisioner, node }: VolumeWaitLine): string {
  if (reason === 'NodeServiceStopped')
    return `waits for the node service of ${drivesDriver} on node ${node}, which is not running`;
  return reason === 'Provisioner'
    ? `waits for provisioner ${provisioner} to create its volumes`
    : `waits until its volumes are detached from node ${node}`;
}

function codes(lines: readonly { readonly reason: string }[]): readonly string[] {
  return [...new Set(lines.map(({ reason }) => reason))].sort();
}

const reasonsShownMax = 3;

/** The reasons that most nodes have: `on 3 of 5 nodes, Insufficient cpu`. */
function nodesText({ groups, total }: PodExplanation['nodes']): string {
  const counts = new Map<string, number>();
  for (const { count, reasons } of groups) {
    for (const text of new Set(
      reasons.map(({ sentence, detail }) => (detail === undefined ? sentence : `${sentence} (${detail})`)),
    ))
      counts.set(text, (counts.get(text) ?? 0) + count);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const shown = ranked.slice(0, reasonsShownMax).map(([text, count]) => `${where(count, total)}, ${text}`);
  return [...shown, ...(ranked.length > shown.length ? ['and more'] : [])].join('; ');
}

function where(count: number, total: number): string {
  if (total === 1) return 'on the only node';
  return count === total
    ? 'on every node'
    : `on ${count.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} nodes`;
}

/** The headline as a predicate: `waits for its scheduling gates to be removed: quota`. */
function withoutName({ summary, pod }: PodExplanation): string {
  const subject = `Pod ${pod.namespace}/${pod.name} `;
  const text = summary.startsWith(subject) ? summary.slice(subject.length) : summary;
  return text.replace(/\.$/, '');
}
