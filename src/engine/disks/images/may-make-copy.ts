import { ownValue } from '../../../kube/go/json-value.ts';
import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../../kube/stowage/disk-schedule.ts';

/**
 * Bytes that each copy of the image requests; undefined while no size is known at all. A user corrects a length that the source reported wrongly by
 * `spec.expectedSize`, so that comes first.
 */
export function copyBytes({ spec, status }: Pick<BackingImage, 'spec' | 'status'>): number | undefined {
  return status?.size ?? spec?.expectedSize ?? status?.sourceSize;
}

/** Whether the agent of a disk may make a copy of the image there: it is wanted, and the schedule of the disk has granted its bytes. */
export function mayMakeCopy(
  image: Pick<BackingImage, 'metadata' | 'spec' | 'status'>,
  diskUUID: string,
  schedule: Pick<DiskSchedule, 'spec' | 'status'> | undefined,
): boolean {
  if (!Object.hasOwn(image.spec?.diskFileSpecMap ?? {}, diskUUID)) return false;
  const bytes = copyBytes(image);
  if (bytes === undefined) return false;
  const name = image.metadata?.name ?? '';
  const asked = ownValue(schedule?.spec?.backingImages, name);
  const verdict = ownValue(schedule?.status?.backingImages, name);
  const isAnswered = asked !== undefined && verdict?.observedSize === asked;
  return isAnswered && verdict.state === 'scheduled' && (verdict.scheduledSize ?? 0) >= bytes;
}
