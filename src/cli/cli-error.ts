/** Something that the caller can mend. The message names it and the remedy; nobody needs to see where it was thrown. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** A flag that makes no sense. */
export function usage(message: string): CliError {
  return new CliError(`${message}; see stowage --help`, 2);
}
