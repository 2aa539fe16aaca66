/** Something that the caller can mend. The message names it and the remedy; nobody needs to see where it was thrown. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** A call that makes no sense: whoever reports it says whose help tells more. */
export class UsageError extends CliError {}

/** A flag that makes no sense. */
export function usage(message: string): UsageError {
  return new UsageError(message, 2);
}
