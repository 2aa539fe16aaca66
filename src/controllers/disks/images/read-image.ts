import type { Projected } from '../../../cluster/cluster.ts';
import { isEvictionRequested } from '../../../engine/disks/disk-state.ts';
import type { CopyView, ImageView } from '../../../engine/disks/images/image-view.ts';
import { copyBytes } from '../../../engine/disks/images/may-make-copy.ts';
import { ownValue } from '../../../kube/go/json-value.ts';
import { parseTimestamp } from '../../../kube/go/timestamp.ts';
import {
  type BackingImage,
  type BackingImageFileState,
  backingImageFinalizer,
} from '../../../kube/stowage/backing-image.ts';
import { diskAgentFinalizer } from '../../../kube/stowage/replica.ts';
import { type DiskCaches, reportedDisks } from '../disk-caches.ts';
import type { DiskIndex } from '../disk-index.ts';
import type { PendingRequests } from '../pending-requests.ts';
import { rejectedDisks } from '../rejected-disks.ts';
import { failedCopies } from './failed-copies.ts';
import type { ImageEntries } from './image-entries.ts';
import type { ImageUsers } from './image-users.ts';

export interface ImageSources {
  readonly caches: DiskCaches;
  readonly book: DiskIndex;
  readonly users: ImageUsers;
  readonly entries: ImageEntries;
  readonly pending: PendingRequests;
}

/** What the plan of an image needs, from the caches. */
export function readImage(image: Projected<BackingImage>, sources: ImageSources, nowMs: number): ImageView {
  const { book, users } = sources;
  const { metadata, spec } = image;
  const name = metadata?.name ?? '';
  const neededOn = users.neededOn(name);
  const { failedOn, isSourceFailing } = failedCopies(image, book, nowMs);
  return {
    name,
    minNumberOfCopies: spec?.minNumberOfCopies ?? 1,
    bytes: copyBytes(image),
    hasReadableLength: spec?.source?.upload === undefined,
    nodeSelector: spec?.nodeSelector ?? [],
    diskSelector: spec?.diskSelector ?? [],
    copies: copiesOf(image, { ...sources, neededOn, nowMs }),
    neededOn,
    rejectedBy: rejectedDisks(image, book, nowMs),
    failedOn,
    isSourceFailing,
    isProtected: metadata?.finalizers?.includes(backingImageFinalizer) === true,
    deletion: deletionOf(image, users),
  };
}

/** The key of a copy among pending requests. */
export function pendingKey(image: string, uuid: string): string {
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
function copiesOf(image: Projected<BackingImage>, sources: CopySources): readonly CopyView[] {
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

function copyOf(image: Projected<BackingImage>, uuid: string, sources: CopySources): CopyView {
  const { caches, book, pending, neededOn, nowMs } = sources;
  const { metadata, spec, status } = image;
  const name = metadata?.name ?? '';
  const disk = book.get(uuid);
  const schedule = caches.schedules.get(uuid);
  const entry = {
    askedBytes: ownValue(schedule?.spec?.backingImages, name),
    verdict: ownValue(schedule?.status?.backingImages, name),
  };
  const wanted = ownValue(spec?.diskFileSpecMap, uuid);
  const node = caches.nodes.get(disk?.nodeName ?? '');
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
    isOverdue: pending.isOverdue(pendingKey(name, uuid), entry, disk),
    idleMs: lastUsedMs === undefined || neededOn.has(uuid) ? 0 : nowMs - lastUsedMs,
  };
}

/**
 * The state of a copy's file; undefined if there is none. A disk that has been given up has no files, and one that is gone has none that are wanted. An
 * image that is being deleted has none if no agent has its finalizer on it: a program that writes the status without one keeps nothing back.
 */
export function fileState(
  image: Pick<BackingImage, 'metadata' | 'spec' | 'status'>,
  uuid: string,
  sources: Pick<ImageSources, 'caches' | 'book' | 'users'>,
): BackingImageFileState | undefined {
  const { metadata, spec, status } = image;
  const isWanted = Object.hasOwn(spec?.diskFileSpecMap ?? {}, uuid);
  if (isGivenUp(uuid, sources.book) || (!isWanted && isDiskGone(uuid, sources))) return undefined;
  const hasAgent = metadata?.finalizers?.includes(diskAgentFinalizer) === true;
  if (!hasAgent && deletionOf(image, sources.users) === 'free') return undefined;
  return ownValue(status?.diskFileStatusMap, uuid)?.state;
}

/** Whether no program can report about files on this disk any more: it has been given up, or no StorageNode has it. */
export function isDiskGone(uuid: string, { caches, book }: Pick<ImageSources, 'caches' | 'book'>): boolean {
  if (isGivenUp(uuid, book)) return true;
  if (caches.schedules.get(uuid) !== undefined) return false;
  return ![...caches.nodes.values()].some((node) => reportedDisks(node).has(uuid));
}

function isGivenUp(uuid: string, book: DiskIndex): boolean {
  const state = book.get(uuid)?.state;
  return state?.kind === 'unknown' && state.isRemoved === true;
}
