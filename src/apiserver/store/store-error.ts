/**
 * The environment prevents the store from working: the disk, the directory or another process. The message names the
 * cause and the remedy. Errors of callers are `InvariantError`s instead.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type StoreErrorCode =
  /** `close` was called before. */
  | 'Closed'
  /** Another process has the data directory open, or this one has it open already. */
  | 'InUse'
  /** A newer version of the program wrote the data directory. */
  | 'NewerFormat'
  /** The data directory cannot be read or written, or contains other data. */
  | 'Unusable'
  /** The data was written by this program and cannot be read any more, or a part of it is missing. */
  | 'Damaged'
  /** Writes could not be made durable because the disk is full, and were rolled back. */
  | 'DiskFull'
  /** Writes could not be made durable for another reason, and were rolled back. */
  | 'WriteFailed';

/** Data of a store cannot be read. The message names the file and the part of it. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData';
}
