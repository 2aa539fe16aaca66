import { overCommittedReason } from '../../engine/disks/disk-conditions.ts';
import type { Robustness } from '../../engine/disks/volume-health.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { DiskSchedule, DiskVerdict } from '../../kube/disks/disk-schedule.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { DiskCaches } from './disk-caches.ts';

const diskStates = ['ready', 'not-ready', 'disabled', 'over-committed'] as const;
const robustnesses: readonly Robustness[] = ['healthy', 'degraded', 'faulted', 'unknown'];
type MeteredState = (typeof diskStates)[number];

/** Counts disks and requests whenever the metrics are read; the returned function ends that. */
export function meterDisks(metrics: Metrics, { schedules, nodes, volumes }: DiskCaches): () => void {
  const byState = metrics.gauge('stowage_disks', 'Disks by their state.', ['state']);
  const limits = metrics.gauge('stowage_disk_limit_bytes', 'The limits of all disks.');
  const scheduled = metrics.gauge('stowage_disk_scheduled_bytes', 'The bytes that are granted on all disks.');
  const requests = metrics.gauge(
    'stowage_disk_requests',
    'Requests of replicas and of copies of images, by the answer; a pending one has none yet.',
    ['state'],
  );
  const silent = metrics.gauge('stowage_storage_nodes_not_ready', 'StorageNodes that are not ready.');
  const byRobustness = metrics.gauge(
    'stowage_disk_volumes',
    'Volumes by status.robustness: how many of their replicas are healthy.',
    ['robustness'],
  );
  return metrics.beforeRender(() => {
    const disks = new Map<MeteredState, number>(diskStates.map((state) => [state, 0]));
    const answers = { pending: 0, scheduled: 0, rejected: 0 };
    const sums = { limit: 0, scheduled: 0 };
    for (const schedule of schedules.values()) {
      const state = stateOf(schedule);
      disks.set(state, disks.get(state)! + 1);
      sums.limit += schedule.status?.storageLimit ?? 0;
      sums.scheduled += schedule.status?.storageScheduled ?? 0;
      for (const answer of answersOf(schedule)) answers[answer] += 1;
    }
    for (const [state, count] of disks) byState.set(count, { state });
    for (const [state, count] of Object.entries(answers)) requests.set(count, { state });
    limits.set(sums.limit);
    scheduled.set(sums.scheduled);
    silent.set(notReadyCount(nodes));
    const counts = volumeCounts(volumes);
    for (const robustness of robustnesses) byRobustness.set(counts.get(robustness) ?? 0, { robustness });
  });
}

function volumeCounts(volumes: DiskCaches['volumes']): ReadonlyMap<Robustness, number> {
  const counts = new Map<Robustness, number>();
  for (const { status } of volumes.values()) {
    const { robustness = 'unknown' } = status ?? {};
    counts.set(robustness, (counts.get(robustness) ?? 0) + 1);
  }
  return counts;
}

function notReadyCount(nodes: DiskCaches['nodes']): number {
  return [...nodes.values()].filter(
    ({ status }) => getCondition(status?.conditions, 'Ready')?.status !== 'True',
  ).length;
}

function stateOf({ status }: Pick<DiskSchedule, 'status'>): MeteredState {
  if (getCondition(status?.conditions, 'Ready')?.status !== 'True') return 'not-ready';
  const schedulable = getCondition(status?.conditions, 'Schedulable');
  if (schedulable?.status !== 'False') return 'ready';
  return schedulable.reason === overCommittedReason ? 'over-committed' : 'disabled';
}

type Answer = 'pending' | DiskVerdict['state'];

/** An answer to another size is none to this request. */
function answersOf({ spec, status }: Pick<DiskSchedule, 'spec' | 'status'>): readonly Answer[] {
  const of = (
    wanted: Readonly<Record<string, number>> | undefined,
    given: Readonly<Record<string, DiskVerdict>> | undefined,
  ) =>
    Object.entries(wanted ?? {}).map(([name, bytes]): Answer => {
      const verdict = given?.[name];
      const isAnswered = verdict !== undefined && (verdict.observedSize ?? verdict.scheduledSize) === bytes;
      return isAnswered ? verdict.state : 'pending';
    });
  return [...of(spec?.replicas, status?.replicas), ...of(spec?.backingImages, status?.backingImages)];
}
