import { ownValue } from '../../../kube/go/json-value.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import {
  type BackingImage,
  type BackingImageFileState,
  backingImageFinalizer,
} from '../../../kube/stowage/backing-image.ts';
import { diskAgentFinalizer } from '../../../kube/stowage/replica.ts';
import type { DiskIndex } from '../disk-index.ts';
import { type DiskObjectMaps, reportedDisks } from '../disk-objects.ts';
import { isEvictionRequested } from '../disk-state.ts';
import { rejectedDisks } from '../rejected-disks.ts';
import type { ObservedAges } from '../volumes/volume-view.ts';
import { failedCopies } from './failed-copies.ts';
import type { ImageEntries } from './image-entries.ts';
import type { ImageUsers } from './image-users.ts';
import type { CopyView, ImageView } from './image-view.ts';
import { copyBytes } from './may-make-copy.ts';

export interface ImageSources {
  readonly objects: Pick<DiskObjectMaps, 'schedules' | 'nodes'>;
  readonly diskIndex: DiskIndex;
  readonly users: ImageUsers;
  readonly entries: ImageEntries;
  /** Without them, no request is overdue. */
  readonly ages?: Pick<ObservedAges, 'isOverdue'>;
}

/** Reads the view of an image that its plan is made from. */
export function readImage(image: BackingImage, sources: ImageSources, nowMs: number): ImageView {
  const { diskIndex, users } = sources;
  const { metadata, spec } = image;
  const name = metadata?.name ?? '';
  const neededOn = users.neededOn(name);
  const { failedOn, isSourceFailing } = failedCopies(image, diskIndex, nowMs);
  return {
    name,
    minNumberOfCopies: spec?.minNumberOfCopies ?? 1,
    bytes: copyBytes(image),
    hasReadableLength: spec?.source?.upload === undefined,
    nodeSelector: spec?.nodeSelector ?? [],
    diskSelector: spec?.diskSelector ?? [],
    copies: copiesOf(image, { ...sources, neededOn, nowMs }),
    neededOn,
    rejectedBy: rejectedDisks(image, diskIndex, nowMs),
    failedOn,
    isSourceFailing,
    isProtected: metadata?.finalizers?.includes(backingImageFinalizer) === true,
    deletion: deletionOf(image, users),
  };
}

/** The key of the request of a copy, for `ObservedAges`. */
export function requestKey(image: string, uuid: string): string {
  return `${image} ${uuid}`;
}

function deletionOf({ metadata }: Pick<BackingImage, 'metadata'>, users: ImageUsers): ImageView['deletion'] {
  if (metadata?.deletionTimestamp === undefined) return 'none';
  return users.volumesOf(metadata.name ?? '').length > 0 ? 'blocked' : 'free';
}

interface CopySources extends ImageSources {
  readonly neededOn: ReadonlyMap<string, string>;
  readonly nowMs: number;
}

/** The union of the disks in the spec, in the status, and of the schedules that have an entry. */
function copiesOf(image: BackingImage, sources: CopySources): readonly CopyView[] {
  const { spec, status, metadata } = image;
  const disks = new Set([
    ...Object.keys(spec?.diskFileSpecMap ?? {}),
    ...Object.keys(status?.diskFileStatusMap ?? {}),
    ...sources.entries.disksOf(metadata?.name ?? ''),
  ]);
  return [...disks]
    .sort()
    .map((uuid) => copyOf(image, uuid, sources))
    .filter(
      ({ isWanted, state, entry }) => isWanted || state !== undefined || entry.askedBytes !== undefined,
    );
}

function copyOf(image: BackingImage, uuid: string, sources: CopySources): CopyView {
  const { objects, diskIndex, ages, neededOn, nowMs } = sources;
  const { metadata, spec, status } = image;
  const name = metadata?.name ?? '';
  const disk = diskIndex.get(uuid);
  const schedule = objects.schedules.get(uuid);
  const entry = {
    askedBytes: ownValue(schedule?.spec?.backingImages, name),
    verdict: ownValue(schedule?.status?.backingImages, name),
  };
  const wanted = ownValue(spec?.diskFileSpecMap, uuid);
  const node = objects.nodes.get(disk?.nodeName ?? '');
  const lastUsedMs = parseTimestamp(ownValue(status?.diskLastUsedMap, uuid));
  return {
    place: { uuid, nodeName: disk?.nodeName ?? '', zone: disk?.zone ?? '' },
    diskName: disk?.name ?? uuid,
    isWanted: wanted !== undefined,
    isEvicted: wanted?.evictionRequested === true || isEvictionRequested(node, disk?.name ?? ''),
    isLost: isDiskGone(uuid, sources),
    isDiskReady: disk?.state.kind === 'ready',
    entry,
    state: fileState(image, uuid, sources),
    isOverdue: ages?.isOverdue(requestKey(name, uuid), entry, disk) ?? false,
    idleMs: lastUsedMs === undefined || neededOn.has(uuid) ? 0 : nowMs - lastUsedMs,
  };
}

/**
 * The state of a copy's file; undefined if there is none. An abandoned disk has no files, and a disk that no longer exists has none except wanted ones. An
 * image that is being deleted has none if no agent has its finalizer on it: a program that writes the status without a finalizer does not delay the deletion.
 */
export function fileState(
  image: Pick<BackingImage, 'metadata' | 'spec' | 'status'>,
  uuid: string,
  sources: Pick<ImageSources, 'objects' | 'diskIndex' | 'users'>,
): BackingImageFileState | undefined {
  const { metadata, spec, status } = image;
  const isWanted = Object.hasOwn(spec?.diskFileSpecMap ?? {}, uuid);
  if (isAbandoned(uuid, sources.diskIndex) || (!isWanted && isDiskGone(uuid, sources))) return undefined;
  const hasAgent = metadata?.finalizers?.includes(diskAgentFinalizer) === true;
  if (!hasAgent && deletionOf(image, sources.users) === 'free') return undefined;
  return ownValue(status?.diskFileStatusMap, uuid)?.state;
}

/** Whether no program can report about files on this disk any more: it was abandoned, or no StorageNode has it. */
export function isDiskGone(
  uuid: string,
  { objects, diskIndex }: Pick<ImageSources, 'objects' | 'diskIndex'>,
): boolean {
  if (isAbandoned(uuid, diskIndex)) return true;
  if (objects.schedules.get(uuid) !== undefined) return false;
  return ![...objects.nodes.values()].some((node) => reportedDisks(node).has(uuid));
}

function isAbandoned(uuid: string, diskIndex: DiskIndex): boolean {
  const state = diskIndex.get(uuid)?.state;
  return state?.kind === 'unknown' && state.isRemoved === true;
}
