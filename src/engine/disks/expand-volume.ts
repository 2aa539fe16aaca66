import type { DiskCandidate } from './choose-disk.ts';
import {
  answerOf,
  type DiskVolumePlan,
  grantedTo,
  type ReplicaView,
  type VolumeStep,
  type VolumeView,
} from './volume-model.ts';

/** All replicas have been granted `bytes`. */
export function expandVolume(
  view: VolumeView,
  replicas: readonly ReplicaView[],
  bytes: number,
  disks: readonly DiskCandidate[],
): DiskVolumePlan {
  const steps: VolumeStep[] = replicas.flatMap((replica): readonly VolumeStep[] => [
    ...(replica.sizeBytes < bytes ? [{ kind: 'grow', replica: replica.name, bytes } as const] : []),
    ...(replica.isRunningDesired ? [] : [{ kind: 'start', replica: replica.name } as const]),
  ]);
  const isGrown = replicas.every(({ sizeBytes }) => sizeBytes >= bytes);
  const currentBytes = isGrown ? bytes : view.currentBytes;
  const plan = { currentBytes, refusedExpansion: undefined };
  const { wantedBytes } = view;
  const allocated = { kind: 'allocated', bytes } as const;
  if (!isGrown) return { ...plan, steps, allocation: { kind: 'waiting-for-verdict' } };
  if (wantedBytes <= bytes)
    return { ...plan, steps: [...steps, ...requests(replicas, bytes)], allocation: allocated };

  const refused = view.refusedExpansion?.bytes === wantedBytes ? view.refusedExpansion : undefined;
  if (refused !== undefined) {
    const allocation = { kind: 'expansion-refused', ...refused } as const;
    return {
      ...plan,
      steps: [...steps, ...requests(replicas, bytes)],
      allocation,
      refusedExpansion: refused,
    };
  }
  const asked = requests(replicas, wantedBytes);
  if (asked.length > 0)
    return { ...plan, steps: [...steps, ...asked], allocation: { kind: 'waiting-for-verdict' } };
  return { ...plan, ...expansionOutcome(replicas, wantedBytes, steps, disks) };
}

/** All replicas have requested the larger size: nothing is decided before every disk has answered. */
function expansionOutcome(
  replicas: readonly ReplicaView[],
  bytes: number,
  steps: readonly VolumeStep[],
  disks: readonly DiskCandidate[],
): Pick<DiskVolumePlan, 'steps' | 'allocation' | 'refusedExpansion'> {
  const answers = replicas.map((replica) => ({ replica, answer: answerOf(replica.entry) }));
  if (answers.some(({ replica, answer }) => answer === undefined && !replica.isOverdue))
    return { steps, allocation: { kind: 'waiting-for-verdict' }, refusedExpansion: undefined };
  const no = answers.find(({ answer }) => answer?.state !== 'scheduled');
  if (no === undefined) {
    const grown = replicas.map(({ name }) => ({ kind: 'grow', replica: name, bytes }) as const);
    return {
      steps: [...steps, ...grown],
      allocation: { kind: 'waiting-for-verdict' },
      refusedExpansion: undefined,
    };
  }
  const { replica, answer } = no;
  const disk = disks.find(({ uuid }) => uuid === replica.place?.uuid);
  const why = answer === undefined ? 'it does not answer' : shortage(replica, bytes, disk);
  const message = `expansion to ${bytes} bytes: disk ${disk?.name} on node ${replica.place?.nodeName}: ${why}`;
  const refusedExpansion = { bytes, message, diskUUID: replica.place?.uuid ?? '' };
  return { steps, allocation: { kind: 'expansion-refused', ...refusedExpansion }, refusedExpansion };
}

function shortage(replica: ReplicaView, bytes: number, disk: DiskCandidate | undefined): string {
  if (disk?.state.kind !== 'ready') return 'its room is unknown';
  const free = disk.state.limitBytes - disk.grantedBytes;
  const more = bytes - grantedTo(replica);
  return `${free} bytes free, ${more} more requested: ${Math.max(0, more - free)} missing`;
}

/** Requests that differ from `bytes`. */
function requests(replicas: readonly ReplicaView[], bytes: number): readonly VolumeStep[] {
  return replicas.flatMap(({ name, place, entry }) =>
    place === undefined || entry === undefined || entry.askedBytes === bytes
      ? []
      : [{ kind: 'request', replica: name, diskUUID: place.uuid, bytes } as const],
  );
}
