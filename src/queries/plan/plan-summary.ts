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
    counted(moved, 'pod moves', 'pods move'),
    counted(moves.length - moved, 'pod gets its first node', 'pods get their first node'),
    counted(stranded.length - waiting, 'pod is stranded', 'pods are stranded'),
    counted(waiting, 'pod is still pending', 'pods are still pending'),
    counted(stuck.length, 'pod keeps a drive from being emptied', 'pods keep a drive from being emptied'),
    counted(unused.length, 'volume cannot leave its drive', 'volumes cannot leave their drive'),
    counted(lost.length, 'pod is lost', 'pods are lost'),
    counted(removed.length, 'pod is removed', 'pods are removed'),
  ].filter((text) => text !== undefined);
  const what = parts.length === 0 ? 'nothing changes for any pod' : parts.join(', ');
  const had = `${grouped(before.nodes)} ${before.nodes === 1 ? 'node' : 'nodes'}`;
  const nodes = before.nodes === after.nodes ? had : `${had}, then ${grouped(after.nodes)}`;
  const unread =
    unreadKinds.length === 0 ? '' : ' Not everything could be read, so more pods may be affected.';
  return `${capital(changes.join('; '))}: ${what}. ${grouped(before.placedPods)} ${before.placedPods === 1 ? 'pod has' : 'pods have'} a node before, ${grouped(after.placedPods)} after (${nodes}).${unread}`;
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined;
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
