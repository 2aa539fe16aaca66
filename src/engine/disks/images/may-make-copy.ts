import type { BackingImage } from '../../../kube/disks/backing-image.ts';
import type { DiskSchedule } from '../../../kube/disks/disk-schedule.ts';
import { ownValue } from '../../../kube/go/json-value.ts';

/** Bytes that each copy of the image requests; undefined while no size is known at all. */
export function copyBytes({ spec, status }: Pick<BackingImage, 'spec' | 'status'>): number | undefined {
  return status?.size ?? spec?.expectedSize;
}

/**
 * Whether the agent of a disk may make a copy of the image there: it is wanted, and the schedule of the disk has granted its bytes. If no size is known at
 * all, nothing can be requested, and the copy may be made: it is adopted when its size is known.
 */
export function mayMakeCopy(
  image: Pick<BackingImage, 'metadata' | 'spec' | 'status'>,
  diskUUID: string,
  schedule: Pick<DiskSchedule, 'spec' | 'status'> | undefined,
): boolean {
  if (!Object.hasOwn(image.spec?.diskFileSpecMap ?? {}, diskUUID)) return false;
  const bytes = copyBytes(image);
  if (bytes === undefined) return true;
  const name = image.metadata?.name ?? '';
  const asked = ownValue(schedule?.spec?.backingImages, name);
  const verdict = ownValue(schedule?.status?.backingImages, name);
  const isAnswered = asked !== undefined && verdict?.observedSize === asked;
  return isAnswered && verdict.state === 'scheduled' && (verdict.scheduledSize ?? 0) >= bytes;
}
