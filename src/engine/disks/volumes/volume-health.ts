import { hasReplicaData, type Replica } from '../../../kube/stowage/replica.ts';
import {
  type DiskVolume,
  type DiskVolumeStatus,
  hasVolumeData,
  isDataLossAccepted,
} from '../../../kube/stowage/volume.ts';
import type { ReplicaHealth } from './replica-health.ts';

export type Robustness = NonNullable<DiskVolumeStatus['robustness']>;

/** Whether some replica of the volume had all of the data, and no user has given the data up since. */
export function hadData(
  volume: Pick<DiskVolume, 'metadata' | 'status'>,
  replicas: readonly Pick<Replica, 'metadata' | 'status'>[],
): boolean {
  const isAccepted = isDataLossAccepted(volume);
  const isKept = ({ metadata }: Pick<Replica, 'metadata'>) =>
    !isAccepted || metadata?.deletionTimestamp === undefined;
  const isRecorded = hasVolumeData(volume) && !isAccepted;
  return isRecorded || replicas.some((replica) => hasReplicaData(replica) && isKept(replica));
}

/**
 * How many of the replicas are healthy. A volume without a healthy replica is `faulted` if it has had data, and `unknown` before that: an empty volume must not
 * look like one that has its data.
 */
export function volumeRobustness(
  healths: readonly ReplicaHealth[],
  { wanted, hadData: hasHadData }: { readonly wanted: number; readonly hadData: boolean },
): Robustness {
  const healthy = healths.filter((health) => health === 'healthy').length;
  if (healthy === 0) return hasHadData ? 'faulted' : 'unknown';
  return healthy >= wanted ? 'healthy' : 'degraded';
}
