import { overCommittedReason } from '../../engine/disks/disk-conditions.ts';
import type { Robustness } from '../../engine/disks/volumes/volume-health.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { DiskSchedule, DiskVerdict } from '../../kube/stowage/disk-schedule.ts';
import type { Labels, Metrics } from '../../runtime/metrics.ts';
import type { DiskCaches } from './disk-caches.ts';

const diskStates = ['ready', 'not-ready', 'disabled', 'over-committed'] as const;
const robustnesses: readonly Robustness[] = ['healthy', 'degraded', 'faulted', 'unknown'];
/** A disk may be moved, and another one may get its name: the UUID tells them apart. */
const diskLabels = ['storage_node', 'disk', 'disk_uuid'];
type MeteredState = (typeof diskStates)[number];

/** Counts disks and requests whenever the metrics are read; the returned function ends that. */
export function meterDisks(metrics: Metrics, { schedules, nodes, volumes }: DiskCaches): () => void {
  const byState = metrics.gauge('stowage_disks', 'Disks by their state.', ['state']);
  const limits = metrics.gauge(
    'stowage_disk_limit_bytes',
    'The limit of each disk; of a disk that is not ready, none.',
    diskLabels,
  );
  const scheduled = metrics.gauge(
    'stowage_disk_scheduled_bytes',
    'The bytes that are granted on each disk.',
    diskLabels,
  );
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
    for (const schedule of schedules.values()) {
      const state = stateOf(schedule);
      disks.set(state, disks.get(state)! + 1);
      for (const answer of answersOf(schedule)) answers[answer] += 1;
    }
    for (const [state, count] of disks) byState.set(count, { state });
    for (const [state, count] of Object.entries(answers)) requests.set(count, { state });
    limits.replace(bytesByDisk(schedules, 'storageLimit'));
    scheduled.replace(bytesByDisk(schedules, 'storageScheduled'));
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

/** Disks without the field are left out. */
function bytesByDisk(
  schedules: DiskCaches['schedules'],
  field: 'storageLimit' | 'storageScheduled',
): readonly (readonly [Labels, number])[] {
  return [...schedules.values()].flatMap(({ metadata, spec, status }) => {
    const bytes = status?.[field];
    const { name: disk = '', nodeID = '' } = spec ?? {};
    const labels = { storage_node: nodeID, disk, disk_uuid: metadata?.name ?? '' };
    return bytes === undefined ? [] : [[labels, bytes] as const];
  });
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
