import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import type {
  BackingImage,
  BackingImageFile,
  BackingImageFileState,
} from '../../../kube/stowage/backing-image.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';

/** The reported status of a copy; fields that are left out are removed. */
export interface CopyReport {
  readonly state: BackingImageFileState;
  readonly progress?: number;
  readonly message?: string;
  readonly transferTokenSHA256?: string | undefined;
}

export interface CopyWriteOptions {
  /** Bytes of the image, once they are known. */
  readonly size?: number;
  /** Bytes of the source of the image, if the agent has read its length. */
  readonly sourceSize?: number;
  /** The write takes place only if the image has not changed since it was read. */
  readonly isVersioned?: boolean;
}

/** Messages come from servers too. */
const messageLengthMax = 4096;

/**
 * Writes what became of the copy on one disk. Only the agent of the disk writes this key, and it writes nothing else but the sizes: that of
 * copies can't change once it is set, and that of the source is written with a version. So the write is right whatever else changed, and carries the uid alone, unless it decides by other fields.
 */
export async function writeCopyStatus(
  { cluster, clock }: Pick<ControllerContext, 'cluster' | 'clock'>,
  image: BackingImage,
  diskUUID: string,
  report: CopyReport | undefined,
  { size, sourceSize, isVersioned = false }: CopyWriteOptions = {},
): Promise<BackingImage> {
  const before = image.status?.diskFileStatusMap?.[diskUUID];
  const isSized = size === undefined || image.status?.size === size;
  if (isReported(before, report) && isSized && sourceSize === undefined) return image;
  const { uid, resourceVersion, name = '' } = image.metadata ?? {};
  const entry =
    report === undefined
      ? null
      : {
          state: report.state,
          progress: report.progress ?? null,
          message: report.message?.slice(0, messageLengthMax) ?? null,
          transferTokenSHA256: report.transferTokenSHA256 ?? null,
          ...(before?.state !== report.state && {
            lastStateTransitionTime: formatTimestamp(clock.nowMs()),
          }),
        };
  const body = {
    metadata: { uid, ...(isVersioned && { resourceVersion }) },
    status: {
      diskFileStatusMap: { [diskUUID]: entry },
      ...(size !== undefined && { size }),
      ...(sourceSize !== undefined && { sourceSize }),
    },
  };
  return await cluster
    .resource(backingImages)
    .patch({ name }, { type: 'merge', body }, { subresource: 'status' });
}

function isReported(before: BackingImageFile | undefined, report: CopyReport | undefined): boolean {
  if (before === undefined || report === undefined) return before === report;
  return (['state', 'progress', 'message', 'transferTokenSHA256'] as const).every(
    (field) => before[field] === report[field],
  );
}
