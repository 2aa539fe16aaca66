import type { BackingImage } from '../../../kube/disks/backing-image.ts';
import type { DiskSchedule } from '../../../kube/disks/disk-schedule.ts';
import type { ByteLimit } from '../transfer/fill-part.ts';

/** How long a copy may become: what its disk granted, or else what is free. */
export function copyLimit(
  image: Pick<BackingImage, 'metadata'>,
  schedule: DiskSchedule | undefined,
  freeBytes: number,
): ByteLimit {
  const { scheduledSize = 0 } = schedule?.status?.backingImages?.[image.metadata?.name ?? ''] ?? {};
  if (scheduledSize > 0)
    return { bytes: scheduledSize, remedy: 'the disk has granted no more; raise spec.expectedSize' };
  return { bytes: freeBytes, remedy: 'the disk has no more free bytes; free some, or set spec.expectedSize' };
}
