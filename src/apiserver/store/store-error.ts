/**
 * Something outside of the program keeps the store from working: the disk, the directory, another process. The message
 * names it and the remedy. What callers of the store do wrong is an `InvariantError` instead.
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
  /** A later version of the program has written the data directory. */
  | 'NewerFormat'
  /** The data directory cannot be read or written, or holds something else. */
  | 'Unusable'
  /** Writes could not be made durable and were taken back. */
  | 'WriteFailed';
