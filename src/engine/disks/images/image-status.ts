import type { Condition, Timestamp } from '../../../kube/api/meta.ts';
import { setCondition } from '../../../kube/conditions.ts';
import type { BackingImage, BackingImageStatus } from '../../../kube/stowage/backing-image.ts';
import { exactBytesText } from '../exact-bytes.ts';
import { isCopyReady } from './copy-state.ts';
import type { ImagePlan, ImageView } from './image-view.ts';

export interface ImageReport {
  readonly view: ImageView;
  readonly plan: ImagePlan;
  /** The last error of a copy. */
  readonly failure: string | undefined;
  readonly usedBy: readonly string[];
  /** UUIDs of the disks that no longer exist and still have a file in the status. */
  readonly lostFiles: readonly string[];
  readonly now: Timestamp;
}

/** The status after a plan: when copies were last used, and the conditions. The agents write the files and the size. */
export function imageStatus({ metadata, status }: BackingImage, report: ImageReport): BackingImageStatus {
  const { diskFileStatusMap = {}, ...rest } = status ?? {};
  const files = Object.entries(diskFileStatusMap).filter(([uuid]) => !report.lostFiles.includes(uuid));
  return {
    ...rest,
    observedGeneration: Number(metadata?.generation ?? 0),
    ...(status?.diskFileStatusMap !== undefined && { diskFileStatusMap: Object.fromEntries(files) }),
    diskLastUsedMap: lastUsed(status, report),
    conditions: conditionsOf(report).reduce(
      (list, condition) => setCondition(list, condition, report.now),
      status?.conditions ?? [],
    ),
  };
}

/** The maps of a merge patch from one status to the next, with null for each removed key. */
export function removedKeys(
  before: BackingImageStatus | undefined,
  after: BackingImageStatus,
): Pick<Record<string, unknown>, 'diskFileStatusMap' | 'diskLastUsedMap'> {
  return {
    diskFileStatusMap: nulls(before?.diskFileStatusMap, after.diskFileStatusMap),
    diskLastUsedMap: { ...after.diskLastUsedMap, ...nulls(before?.diskLastUsedMap, after.diskLastUsedMap) },
  };
}

function nulls(
  before: Readonly<Record<string, unknown>> = {},
  after: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, null>> {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return Object.fromEntries(removed.map((key) => [key, null]));
}

/** The time at which each copy that no replica uses was found unused. */
function lastUsed(
  status: BackingImageStatus | undefined,
  { view, now }: ImageReport,
): Readonly<Record<string, Timestamp>> {
  const unused = view.copies.filter(({ isWanted, place }) => isWanted && !view.neededOn.has(place.uuid));
  return Object.fromEntries(
    unused.map(({ place }) => [place.uuid, status?.diskLastUsedMap?.[place.uuid] ?? now]),
  );
}

function conditionsOf(report: ImageReport): readonly Condition[] {
  const conditions = [allocationCondition(report), readyCondition(report)];
  return report.view.deletion === 'blocked' ? [...conditions, inUseCondition(report.usedBy)] : conditions;
}

function allocationCondition({ plan: { allocation }, failure }: ImageReport): Condition {
  const no = { type: 'DiskAllocation', status: 'False' } as const;
  switch (allocation.kind) {
    case 'allocated': {
      const { bytes, copies, staying } = allocation;
      const granted = `Each of ${copies} copies has been granted ${exactBytesText(bytes)}`;
      return { ...no, status: 'True', reason: 'Scheduled', message: [granted, ...staying].join('; ') };
    }
    case 'waiting-for-verdict':
      return { ...no, reason: 'Pending', message: 'Disks have not answered every request yet' };
    case 'size-unknown':
      return { ...no, reason: 'SizeUnknown', message: sizeUnknownText(allocation.isReadable, failure) };
    case 'retrying-later':
      return {
        ...no,
        reason: 'CopyFailed',
        message: 'A copy failed a while ago; another one is placed later',
      };
    case 'waiting-for-disk':
      return { ...no, reason: 'InsufficientStorage', message: allocation.message };
  }
}

function sizeUnknownText(isReadable: boolean, failure: string | undefined): string {
  const head = 'No disk is asked for bytes before the size of the image is known';
  const remedy = 'set spec.expectedSize to the number of its bytes';
  if (!isReadable) return `${head}, and an upload has no length before it begins; ${remedy}`;
  if (failure !== undefined) return `${head}; ${failure}; ${remedy}`;
  return `${head}; an agent reads the length of the source. If that takes too long, ${remedy}`;
}

function readyCondition({ view, failure }: ImageReport): Condition {
  const type = 'Ready';
  const wanted = view.copies.filter(({ isWanted }) => isWanted);
  const ready = wanted.filter(isCopyReady).length;
  if (ready > 0)
    return {
      type,
      status: 'True',
      reason: 'CopyReady',
      message: `${ready} of ${wanted.length} copies are ready`,
    };
  if (failure !== undefined)
    return { type, status: 'False', reason: 'CopyFailed', message: `No copy is ready; ${failure}` };
  if (wanted.length === 0)
    return { type, status: 'False', reason: 'NoCopy', message: 'No disk has been chosen for a copy yet' };
  return {
    type,
    status: 'False',
    reason: 'Pending',
    message: `None of ${wanted.length} copies is ready yet`,
  };
}

function inUseCondition(usedBy: readonly string[]): Condition {
  const [first, ...others] = usedBy;
  const users =
    others.length === 0 ? `Volume ${first} uses` : `Volume ${first} and ${others.length} more use`;
  const message = `${users} the image; it is deleted when no Volume does`;
  return { type: 'InUse', status: 'True', reason: 'VolumesUseImage', message };
}
