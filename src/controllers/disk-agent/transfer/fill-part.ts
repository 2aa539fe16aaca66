import type { DataFolder } from '../files/data-folder.ts';
import type { DataIdentity } from '../files/data-identity.ts';
import type { DataFile } from '../files/host-files.ts';
import { type ByteSource, type ByteStream, type ResumePoint, TransferError } from './byte-source.ts';

export interface FillOptions {
  readonly folder: DataFolder;
  readonly identity: DataIdentity;
  /** The data may not be longer than this. */
  readonly limit: ByteLimit;
  /** Called with the bytes so far. */
  readonly onProgress: (doneBytes: number, totalBytes: number | undefined) => void;
  /** The part is synchronized to the disk after so many bytes. */
  readonly checkpointBytes?: number | undefined;
}

export interface ByteLimit {
  readonly bytes: number;
  /** Who set the limit, and what to do: the end of a sentence. */
  readonly remedy: string;
}

/** The result of filling a part. */
export interface FilledPart {
  readonly bytes: number;
  /** The data of the source has so many zeros more, which the part does not have yet. */
  readonly unsentZeroBytes: number;
  readonly identity: DataIdentity;
  readonly sha512: string | undefined;
}

const checkpointBytesDefault = 64 * 2 ** 20;

/**
 * Reads all data of a source into `data.img.part`, from where the last attempt ended. A run of zeros is not written, so that the file stays
 * sparse. What has arrived is recorded in the identity after it is durable; after a crash, that much is not fetched again.
 */
export async function fillPart(
  source: ByteSource,
  options: FillOptions,
  signal: AbortSignal,
): Promise<FilledPart> {
  const { folder, identity } = options;
  const stream = await source.open(await resumePoint(folder, identity), signal);
  try {
    if (stream.startsAt === 0) await folder.discardPart();
    const part = new GrowingPart(await folder.openPart(), options, stream);
    return await part.fill(signal);
  } finally {
    stream.close();
  }
}

/** Without a validator it is unknown whether the source still has the bytes that were read. */
async function resumePoint(
  folder: DataFolder,
  { validator, receivedBytes = 0 }: DataIdentity,
): Promise<ResumePoint> {
  const state = await folder.inspect();
  const partBytes = state.kind === 'known' ? state.partBytes : 0;
  return { offset: validator === undefined ? 0 : Math.min(partBytes, receivedBytes), validator };
}

class GrowingPart {
  readonly #file: DataFile;
  readonly #options: FillOptions;
  readonly #stream: ByteStream;
  #identity: DataIdentity;
  #at: number;
  /** The end of the last checkpoint. */
  #durable: number;

  constructor(file: DataFile, options: FillOptions, stream: ByteStream) {
    this.#file = file;
    this.#options = options;
    this.#stream = stream;
    this.#identity = options.identity;
    this.#at = stream.startsAt;
    this.#durable = stream.startsAt;
  }

  async fill(signal: AbortSignal): Promise<FilledPart> {
    try {
      await this.#begin();
      try {
        for await (const chunk of this.#stream.chunks) {
          signal.throwIfAborted();
          await this.#add(chunk);
        }
      } finally {
        await this.#checkpoint();
      }
      this.#checkEnd();
      const { sha512, unsentZeroBytes = 0 } = this.#stream;
      return { bytes: this.#at, unsentZeroBytes, identity: this.#identity, sha512 };
    } finally {
      await this.#file.close();
    }
  }

  /** A source that starts again makes what was recorded worthless. */
  async #begin(): Promise<void> {
    const { totalBytes, validator } = this.#stream;
    if (totalBytes !== undefined) checkTotalBytes(totalBytes, this.#options.limit);
    const { validator: _old, receivedBytes: _received, ...rest } = this.#identity;
    if (validator === this.#identity.validator && (this.#identity.receivedBytes ?? 0) === this.#at) return;
    this.#identity = { ...rest, ...(validator !== undefined && { validator }), receivedBytes: this.#at };
    await this.#options.folder.identify(this.#identity);
  }

  async #add(chunk: Uint8Array): Promise<void> {
    const { limit } = this.#options;
    if (this.#at + chunk.length > limit.bytes) throw tooLong(`more than ${limit.bytes}`, limit);
    if (!isZero(chunk) || (await this.#file.size()) > this.#at) await this.#file.write(chunk, this.#at);
    this.#at += chunk.length;
    this.#options.onProgress(this.#at, this.#stream.totalBytes);
    const step = this.#options.checkpointBytes ?? checkpointBytesDefault;
    if (this.#at - this.#durable >= step) await this.#checkpoint();
  }

  async #checkpoint(): Promise<void> {
    if (this.#at === this.#durable) return;
    // Zeros at the end have not been written.
    if ((await this.#file.size()) < this.#at) await this.#file.resize(this.#at);
    await this.#file.sync();
    this.#identity = { ...this.#identity, receivedBytes: this.#at };
    await this.#options.folder.identify(this.#identity);
    this.#durable = this.#at;
  }

  #checkEnd(): void {
    const { totalBytes } = this.#stream;
    if (totalBytes === undefined || totalBytes === this.#at) return;
    const message = `the connection ended after ${this.#at} of ${totalBytes} bytes`;
    throw new TransferError(message, { isPermanent: this.#at > totalBytes });
  }
}

/** Throws if the data is longer than it may be. */
export function checkTotalBytes(bytes: number, limit: ByteLimit): void {
  if (bytes > limit.bytes) throw tooLong(String(bytes), limit);
}

function tooLong(size: string, { bytes, remedy }: ByteLimit): TransferError {
  const message = `the data has ${size} bytes, and at most ${bytes} may be used: ${remedy}`;
  return new TransferError(message, { isPermanent: true });
}

const zeros = Buffer.alloc(65_536);

function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const part = bytes.subarray(at, at + zeros.length);
    if (zeros.compare(part, 0, part.length, 0, part.length) !== 0) return false;
  }
  return true;
}
