import { QuestionError } from '../../queries/question-error.ts';

/** An error that the user can fix. The message names the cause and the remedy, so no stack trace is shown. */
export class CliError extends QuestionError {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exitCode = exitCode;
  }
}

/** Wrong usage: the report adds which `--help` explains more. */
export class UsageError extends CliError {}

/** An invalid flag or argument. */
export function usage(message: string): UsageError {
  return new UsageError(message, 2);
}
