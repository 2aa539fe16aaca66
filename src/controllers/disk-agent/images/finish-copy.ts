import type { BackingImage } from '../../../kube/stowage/backing-image.ts';
import type { DataFolder } from '../files/data-folder.ts';
import type { DataIdentity } from '../files/data-identity.ts';
import { sha512OfPart } from '../files/hash-data.ts';
import { TransferError } from '../transfer/byte-source.ts';

export interface ArrivedData {
  readonly bytes: number;
  /** The checksum that the source states. */
  readonly sha512?: string | undefined;
}

/**
 * Checks all bytes that arrived, records their checksum, and makes the copy complete. Data that is wrong is discarded, so that the next attempt
 * begins again. After a crash it can be repeated from any point.
 */
export async function finishCopy(
  folder: DataFolder,
  image: BackingImage,
  { bytes, sha512: sourceSha512 }: ArrivedData,
  signal: AbortSignal,
): Promise<void> {
  await folder.resizePart(bytes);
  const sha512 = await sha512OfPart(folder, signal);
  const problem = problemWith(image, bytes, sha512) ?? sourceProblem(sourceSha512, sha512);
  if (problem !== undefined) {
    await folder.discardPart();
    throw new TransferError(problem, { isPermanent: true });
  }
  const { name = '', uid = '' } = image.metadata ?? {};
  const identity: DataIdentity = { name, uid, size: bytes, sha512 };
  await folder.identify(identity);
  await folder.complete(bytes);
}

function problemWith({ spec, status }: BackingImage, bytes: number, sha512: string): string | undefined {
  if (bytes === 0) return 'the data is empty, and an image needs at least one byte';
  if (spec?.checksum !== undefined && spec.checksum !== sha512)
    return `the data has the SHA-512 ${sha512}, and spec.checksum is ${spec.checksum}; create another image with the right checksum, or repair the source`;
  if (status?.size !== undefined && status.size !== bytes)
    return `the data has ${bytes} bytes, and other copies have ${status.size}; the source has changed: create another image`;
  return undefined;
}

function sourceProblem(said: string | undefined, sha512: string): string | undefined {
  if (said === undefined || said === sha512) return undefined;
  return `the data has the SHA-512 ${sha512}, and the other agent has ${said}`;
}
