/** Where the data of a copy comes from. */
export interface ByteSource {
  /** Opens the data at a point that was reached before, or at the beginning if it can't continue there. */
  open(from: ResumePoint, signal: AbortSignal): Promise<ByteStream>;
}

export interface ResumePoint {
  readonly offset: number;
  /** The `validator` that the stream returned when the bytes before `offset` were read. */
  readonly validator: string | undefined;
}

export interface ByteStream {
  /** The offset of the first byte: as asked for, or 0. */
  readonly startsAt: number;
  /** Undefined while unknown. */
  readonly totalBytes: number | undefined;
  /** So many zeros follow that are not sent: nothing was ever written there. */
  readonly unsentZeroBytes?: number | undefined;
  /** Identifies this version of the data; undefined if the source has none, and then nothing can be continued. */
  readonly validator?: string | undefined;
  /** SHA-512 in hexadecimal digits, where the source knows it. */
  readonly sha512?: string | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Releases what the stream holds, also if no chunk was read. */
  close(): void;
}

/** Data that could not be fetched. Permanent: trying again changes nothing. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent, cause }: { readonly isPermanent: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isPermanent = isPermanent;
  }
}
