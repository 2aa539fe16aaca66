import { getCondition } from '../../kube/conditions.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { withoutPasswords } from '../../runtime/printable-text.ts';
import { diskEntries } from './disk-entries.ts';
import type { DiskObjects } from './disk-objects.ts';
import type { BackingImageDescription, ImageCopyLine, ImageLine } from './disks-report.ts';
import { compareText, type KnownDisk, knownDisks } from './known-disks.ts';

/** Images by name. */
export function imageLines({ images = [] }: DiskObjects): readonly ImageLine[] {
  return images.map(imageLine).toSorted((a, b) => compareText(a.image, b.image));
}

export function describeImage(image: BackingImage, objects: DiskObjects): BackingImageDescription {
  const { metadata, spec } = image;
  return {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'BackingImageDescription',
    ...imageLine(image),
    checksum: spec?.checksum,
    nodeSelector: listOf(spec?.nodeSelector),
    diskSelector: listOf(spec?.diskSelector),
    copies: copiesOf(image, knownDisks(objects)),
    volumes: objects.volumes
      ?.filter((volume) => volume.spec?.backingImage === metadata?.name)
      .map((volume) => volume.metadata?.name ?? '')
      .toSorted(compareText),
    notes: objects.notes,
  };
}

function imageLine(image: BackingImage): ImageLine {
  const { metadata, spec, status } = image;
  const files = Object.values(status?.diskFileStatusMap ?? {});
  const progress = files.map((file) => (file.state === 'ready' ? 100 : (file.progress ?? 0)));
  return {
    image: metadata?.name ?? '',
    sizeBytes: status?.size,
    expectedBytes: spec?.expectedSize,
    copiesWanted: Math.max(spec?.minNumberOfCopies ?? 1, Object.keys(spec?.diskFileSpecMap ?? {}).length),
    copiesReady: files.filter(({ state }) => state === 'ready').length,
    progressPercent: progress.length === 0 ? undefined : Math.max(...progress),
    ...readinessOf(image),
    source: sourceText(image),
  };
}

function readinessOf({ metadata, status }: BackingImage): Pick<ImageLine, 'state' | 'message'> {
  if (metadata?.deletionTimestamp !== undefined) return { state: 'Deleting' };
  const ready = getCondition(status?.conditions, 'Ready');
  if (ready?.status === 'True') return { state: 'Ready' };
  const allocation = getCondition(status?.conditions, 'DiskAllocation');
  // A copy without its bytes can't become ready, so that is the cause. Why a copy failed is in the condition Ready.
  const lacksBytes = allocation?.status === 'False' && allocation.reason !== 'CopyFailed';
  const cause = lacksBytes ? allocation : ready;
  if (cause === undefined)
    return {
      state: 'Unknown',
      message: 'no controller has looked at it; check that the controller disks runs',
    };
  return { state: textOf(cause.reason) || 'NotReady', message: textOf(cause.message) || undefined };
}

function sourceText({ spec }: BackingImage): string {
  const { download, upload, volume } = spec?.source ?? {};
  if (download !== undefined) return withoutPasswords(textOf(download.url));
  if (volume !== undefined) return `volume/${textOf(volume.name)}`;
  return upload === undefined ? 'unknown' : 'upload';
}

/** Where copies are, or should be. */
export function copiesOf(
  { metadata, spec, status }: BackingImage,
  disks: readonly KnownDisk[],
): readonly ImageCopyLine[] {
  const wanted = spec?.diskFileSpecMap ?? {};
  const uuids = new Set([...Object.keys(wanted), ...Object.keys(status?.diskFileStatusMap ?? {})]);
  const lines = [...uuids].map((uuid): ImageCopyLine => {
    const disk = disks.find((one) => one.uuid === uuid);
    const file = ownValue(status?.diskFileStatusMap, uuid);
    const entry =
      disk && diskEntries(disk).find(({ kind, name }) => kind === 'image' && name === metadata?.name);
    return {
      node: disk?.nodeName,
      disk: disk?.name,
      diskUUID: uuid,
      state: file?.state ?? entry?.state ?? 'unknown',
      progressPercent: file?.progress,
      scheduledBytes: entry?.scheduledBytes ?? 0,
      evictionRequested: ownValue(wanted, uuid)?.evictionRequested === true,
      message: textOf(file?.message) || entry?.reason,
    };
  });
  return lines.toSorted(
    (a, b) => compareText(a.node ?? '', b.node ?? '') || compareText(a.diskUUID, b.diskUUID),
  );
}
