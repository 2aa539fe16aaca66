import { ownValue } from '../../../kube/go/json-value.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import type { DiskCandidate } from '../choose-disk.ts';
import { copyBytes } from './may-make-copy.ts';

/**
 * Disks as a volume that begins with the image sees them: where the image has no copy yet, a replica needs room for one too. A copy that is requested already
 * is part of the demand of its disk. While the size of the image is unknown, no disk is known to have room, so none takes a new replica.
 */
export function withImageDemand(
  image: Pick<BackingImage, 'metadata' | 'spec' | 'status'> | undefined,
  disks: readonly DiskCandidate[],
  schedules: { get(uuid: string): Pick<DiskSchedule, 'spec'> | undefined },
): readonly DiskCandidate[] {
  if (image === undefined) return disks;
  const name = image.metadata?.name ?? '';
  const bytes = copyBytes(image);
  return disks.map((disk) => {
    if (ownValue(schedules.get(disk.uuid)?.spec?.backingImages, name) !== undefined) return disk;
    return bytes === undefined
      ? closedByImage(disk, name)
      : { ...disk, demandBytes: disk.demandBytes + bytes };
  });
}

function closedByImage(disk: DiskCandidate, image: string): DiskCandidate {
  const { state } = disk;
  if (state.kind !== 'ready' || state.closed !== undefined) return disk;
  const message = `the size of BackingImage ${image} is unknown; set its spec.expectedSize, or see its conditions`;
  return { ...disk, state: { ...state, closed: { reason: 'SchedulingDisabled', message } } };
}
