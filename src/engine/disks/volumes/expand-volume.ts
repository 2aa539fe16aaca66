import type { DiskCandidate } from '../choose-disk.ts';
import { exactBytesText, missingBytesText } from '../exact-bytes.ts';
import {
  answerOf,
  type DiskVolumePlan,
  grantedTo,
  type ReplicaView,
  type VolumeExpansion,
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
    ...(isStartable(replica, view) ? [{ kind: 'start', replica: replica.name } as const] : []),
  ]);
  const isGrown = replicas.every(({ sizeBytes }) => sizeBytes >= bytes);
  const currentBytes = isGrown ? bytes : view.currentBytes;
  const plan = { currentBytes, expansion: view.expansion, refusedExpansion: undefined };
  if (!isGrown) return { ...plan, steps, allocation: { kind: 'waiting-for-verdict' } };

  const { wantedBytes } = view;
  const refused = view.refusedExpansion?.bytes === wantedBytes ? view.refusedExpansion : undefined;
  if (wantedBytes <= bytes || refused !== undefined) {
    const isRefused = wantedBytes > bytes && refused !== undefined;
    return {
      ...plan,
      expansion: withdrawn(view.expansion),
      steps: [...steps, ...requests(replicas, bytes)],
      allocation: isRefused ? { kind: 'expansion-refused', ...refused } : { kind: 'allocated', bytes },
      refusedExpansion: isRefused ? refused : undefined,
    };
  }
  return { ...plan, ...expansionSteps(view, replicas, steps, disks) };
}

/**
 * A replica that was created after an expansion was requested does not start with the smaller size before the outcome is known: the other replicas
 * would grow without it. One that was created before is among those that the expansion is requested for.
 */
function isStartable(
  { isRunningDesired, sizeBytes }: ReplicaView,
  { expansion }: Pick<VolumeView, 'expansion'>,
): boolean {
  if (isRunningDesired) return false;
  return expansion?.state !== 'Requested' || sizeBytes >= expansion.bytes;
}

/** Requests are reduced only after the volume has recorded the withdrawal: from then on its disks release the bytes, and nothing is committed. */
function withdrawn(expansion: VolumeExpansion | undefined): VolumeExpansion | undefined {
  return expansion?.state === 'Requested' ? { ...expansion, state: 'Withdrawn' } : expansion;
}

type ExpansionPlan = Pick<DiskVolumePlan, 'steps' | 'expansion' | 'allocation' | 'refusedExpansion'>;

/** The volume is to have more than it has: says so first, then requests it from every disk, then waits for all answers. */
function expansionSteps(
  { wantedBytes: bytes, expansion: last }: VolumeView,
  replicas: readonly ReplicaView[],
  steps: readonly VolumeStep[],
  disks: readonly DiskCandidate[],
): ExpansionPlan {
  const isBegun = last?.state === 'Requested' && last.bytes === bytes;
  const expansion: VolumeExpansion = isBegun ? last : { bytes, state: 'Requested' };
  const asked = requests(replicas, bytes);
  // A commit follows from a stored request: one that is not stored yet has no outcome.
  if (isBegun && asked.length === 0) return expansionOutcome(replicas, expansion, steps, disks);
  const allocation = { kind: 'waiting-for-verdict' } as const;
  return { steps: [...steps, ...asked], expansion, allocation, refusedExpansion: undefined };
}

/** All replicas have requested the larger size: nothing is decided before every disk has answered. */
function expansionOutcome(
  replicas: readonly ReplicaView[],
  expansion: VolumeExpansion,
  steps: readonly VolumeStep[],
  disks: readonly DiskCandidate[],
): ExpansionPlan {
  const { bytes } = expansion;
  const answers = replicas.map((replica) => ({ replica, answer: answerOf(replica.entry) }));
  const allocation = { kind: 'waiting-for-verdict' } as const;
  if (answers.some(({ replica, answer }) => answer === undefined && !replica.isOverdue))
    return { steps, expansion, allocation, refusedExpansion: undefined };
  const no = answers.find(({ answer }) => answer?.state !== 'scheduled');
  if (no === undefined) {
    const grown = replicas.map(({ name }) => ({ kind: 'grow', replica: name, bytes }) as const);
    return {
      steps: [...steps, ...grown],
      expansion: { ...expansion, state: 'Committed' },
      allocation,
      refusedExpansion: undefined,
    };
  }
  const { replica, answer } = no;
  const disk = disks.find(({ uuid }) => uuid === replica.place?.uuid);
  const why = answer === undefined ? 'it does not answer' : shortage(replica, bytes, disk);
  const message = `expansion to ${exactBytesText(bytes)}: disk ${disk?.name} on node ${replica.place?.nodeName}: ${why}`;
  const refusedExpansion = { bytes, message, diskUUID: replica.place?.uuid ?? '' };
  return {
    steps,
    expansion: withdrawn(expansion),
    allocation: { kind: 'expansion-refused', ...refusedExpansion },
    refusedExpansion,
  };
}

function shortage(replica: ReplicaView, bytes: number, disk: DiskCandidate | undefined): string {
  if (disk?.state.kind !== 'ready') return 'its room is unknown';
  const free = disk.state.limitBytes - disk.grantedBytes;
  const more = bytes - grantedTo(replica);
  return missingBytesText({ free, requested: more, missing: Math.max(0, more - free) }, 'more requested');
}

/** Requests that differ from `bytes`. */
function requests(replicas: readonly ReplicaView[], bytes: number): readonly VolumeStep[] {
  return replicas.flatMap(({ name, place, entry }) =>
    place === undefined || entry === undefined || entry.askedBytes === bytes
      ? []
      : [{ kind: 'request', replica: name, diskUUID: place.uuid, bytes } as const],
  );
}
