import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { type ByteSource, TransferError } from '../transfer/byte-source.ts';
import { httpDownload } from '../transfer/http-download.ts';
import { firstCopyDisk, type OriginView } from './copy-origin.ts';

/** Where the agent of a disk reads the length of an image's source, which its copy needs before it can be granted. */
export type LengthOrigin =
  | { readonly kind: 'volume'; readonly bytes: number }
  | { readonly kind: 'download'; readonly url: string }
  | { readonly kind: 'wait'; readonly message: string };

/** One agent reads the length: that of the first copy. Every agent comes to the same answer from the same objects. */
export function lengthOrigin(
  image: BackingImage,
  diskUUID: string,
  view: Pick<OriginView, 'nodes' | 'schedules' | 'volume'>,
): LengthOrigin {
  const { download, volume } = image.spec?.source ?? {};
  if (firstCopyDisk(image, view) !== diskUUID)
    return {
      kind: 'wait',
      message: 'waits for the size of the image, which the agent of another disk reads',
    };
  if (download !== undefined) return { kind: 'download', url: download.url ?? '' };
  if (volume === undefined)
    return { kind: 'wait', message: 'an upload has no length before it begins; set spec.expectedSize' };
  const bytes = view.volume?.status?.size ?? view.volume?.spec?.size;
  return bytes === undefined
    ? { kind: 'wait', message: `waits for Volume ${volume.name}, which does not exist` }
    : { kind: 'volume', bytes };
}

/** Throws a permanent `TransferError` if the source does not report its length. */
export async function readLength(
  origin: Exclude<LengthOrigin, { kind: 'wait' }>,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  return origin.kind === 'volume' ? origin.bytes : await lengthOf(httpDownload(origin.url, clock), signal);
}

/** A GET whose body is not read: a URL that is signed for GET, and some servers, refuse HEAD. */
async function lengthOf(source: ByteSource, signal: AbortSignal): Promise<number> {
  const stream = await source.open({ offset: 0, validator: undefined }, signal);
  stream.close();
  const { totalBytes } = stream;
  if (totalBytes === undefined)
    throw new TransferError('the server does not report the length of the data; set spec.expectedSize', {
      isPermanent: true,
    });
  if (totalBytes === 0)
    throw new TransferError('the data is empty, and an image needs at least one byte', { isPermanent: true });
  return totalBytes;
}
