import { getCondition } from '../../kube/conditions.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import { type DiskVolume, type DiskVolumeStatus, diskVolumes } from '../../kube/stowage/volume.ts';
import { type EventRecorder, referenceTo } from '../../reconcile/event-recorder.ts';

const reasons = { healthy: 'VolumeHealthy', degraded: 'VolumeDegraded', faulted: 'VolumeFaulted' } as const;

/** Records an Event when the robustness of a volume has changed. The process whose write took place calls it. */
export function reportRobustness(
  events: Pick<EventRecorder, 'record'>,
  {
    volume,
    status,
    replicas,
  }: {
    readonly volume: DiskVolume;
    readonly status: DiskVolumeStatus;
    readonly replicas: readonly Replica[];
  },
): void {
  const { robustness = 'unknown' } = status;
  const before = volume.status?.robustness ?? 'unknown';
  if (robustness === before || robustness === 'unknown') return;
  // The first replicas of a new volume do not become healthy together.
  if (before === 'unknown' && robustness === 'degraded') return;
  events.record({
    regarding: referenceTo(volume, { apiVersion: apiVersionOf(diskVolumes), kind: diskVolumes.kind }),
    type: robustness === 'healthy' ? 'Normal' : 'Warning',
    reason: reasons[robustness],
    action: 'CheckReplicas',
    note: noteOf(robustness, status, replicas),
  });
}

function noteOf(
  robustness: keyof typeof reasons,
  { conditions }: DiskVolumeStatus,
  replicas: readonly Replica[],
): string {
  if (robustness === 'healthy') return 'Every replica is healthy';
  const names = replicas.map(({ metadata }) => metadata?.name).sort();
  const which = names.length === 0 ? 'it has no replicas' : `replicas: ${names.join(', ')}`;
  if (robustness === 'degraded') return `Not every replica is healthy; ${which}`;
  const lost = getCondition(conditions, 'DiskAllocation');
  const isExplained = lost?.reason === 'DataLost' || lost?.reason === 'DiskRemoved';
  return isExplained ? `No replica is healthy: ${lost.message}` : `No replica is healthy; ${which}`;
}
