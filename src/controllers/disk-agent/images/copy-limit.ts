import { ownValue } from '../../../kube/go/json-value.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';
import { TransferError } from '../transfer/byte-source.ts';
import type { ByteLimit } from '../transfer/fill-part.ts';

/** How long a copy may become: the bytes that its disk granted. Throws if the grant was withdrawn. */
export function copyLimit(
  { metadata }: Pick<BackingImage, 'metadata'>,
  schedule: Pick<DiskSchedule, 'status'> | undefined,
): ByteLimit {
  const { scheduledSize = 0 } = ownValue(schedule?.status?.backingImages, metadata?.name ?? '') ?? {};
  if (scheduledSize === 0)
    throw new TransferError('the disk has withdrawn the bytes of the copy', { isPermanent: false });
  return { bytes: scheduledSize, remedy: 'the disk has granted no more; raise spec.expectedSize' };
}
