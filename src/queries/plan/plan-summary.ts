import { capitalized, countOf, grouped } from '../../kube/quantities/count-text.ts';
import { type PlanReport, stuckVolumes } from './plan-report.ts';

type Counted = Pick<
  PlanReport,
  | 'changes'
  | 'before'
  | 'after'
  | 'moves'
  | 'stranded'
  | 'stuck'
  | 'lost'
  | 'removed'
  | 'copies'
  | 'unreadKinds'
>;

/** The first line of the answer. */
export function planSummary({
  changes,
  before,
  after,
  moves,
  stranded,
  stuck,
  lost,
  removed,
  copies,
  unreadKinds,
}: Counted): string {
  const stuckPods = new Set(stuck.map(({ pod }) => pod));
  const unused = stuckVolumes({ copies }).filter(({ pod = '' }) => !stuckPods.has(pod));
  const moved = moves.filter(({ from }) => from !== undefined).length;
  const waiting = stranded.filter(({ cause }) => cause === 'pending').length;
  const parts = [
    unlessZero(moved, 'pod moves', 'pods move'),
    unlessZero(moves.length - moved, 'pod gets its first node', 'pods get their first node'),
    unlessZero(stranded.length - waiting, 'pod is stranded', 'pods are stranded'),
    unlessZero(waiting, 'pod is still pending', 'pods are still pending'),
    unlessZero(stuck.length, 'pod keeps a drive from being emptied', 'pods keep a drive from being emptied'),
    unlessZero(unused.length, 'volume cannot leave its drive', 'volumes cannot leave their drive'),
    unlessZero(lost.length, 'pod is lost', 'pods are lost'),
    unlessZero(removed.length, 'pod is removed', 'pods are removed'),
  ].filter((text) => text !== undefined);
  const what = parts.length === 0 ? 'nothing changes for any pod' : parts.join(', ');
  const had = countOf(before.nodes, 'node');
  const nodes = before.nodes === after.nodes ? had : `${had}, then ${grouped(after.nodes)}`;
  const unread =
    unreadKinds.length === 0 ? '' : ' Not everything could be read, so more pods may be affected.';
  return `${capitalized(changes.join('; '))}: ${what}. ${countOf(before.placedPods, 'pod has', 'pods have')} a node before, ${grouped(after.placedPods)} after (${nodes}).${unread}`;
}

function unlessZero(count: number, one: string, many: string): string | undefined {
  return count === 0 ? undefined : countOf(count, one, many);
}
