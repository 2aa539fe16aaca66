import type { Projected } from '../../../cluster/cluster.ts';
import type { DiskCandidate } from '../../../engine/disks/choose-disk.ts';
import { copyBytes } from '../../../engine/disks/images/may-make-copy.ts';
import type { DiskVolume } from '../../../kube/disks/volume.ts';
import type { DiskCaches } from '../disk-caches.ts';

/**
 * Disks as a Volume with an image sees them: where the image has no copy yet, a replica needs room for one too. A copy that is requested already is part of
 * the demand of its disk.
 */
export function withImageDemand(
  { spec }: Projected<DiskVolume>,
  disks: readonly DiskCandidate[],
  { images, schedules }: Pick<DiskCaches, 'images' | 'schedules'>,
): readonly DiskCandidate[] {
  const name = spec?.backingImage;
  const image = name === undefined ? undefined : images.get(name);
  if (name === undefined || image === undefined) return disks;
  const bytes = copyBytes(image) ?? 0;
  return disks.map((disk) => {
    const hasEntry = Object.hasOwn(schedules.get(disk.uuid)?.spec?.backingImages ?? {}, name);
    return hasEntry ? disk : { ...disk, demandBytes: disk.demandBytes + bytes };
  });
}
