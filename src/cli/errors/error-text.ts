import { QuestionError } from '../../queries/question-error.ts';
import { printableLines, withoutPasswords } from '../../runtime/printable-text.ts';
import { UsageError } from './cli-error.ts';

export interface ErrorTextOptions {
  readonly isVerbose: boolean;
  /** The command that prints the matching help. */
  readonly help: string;
}

/** A longer chain of causes adds no information. */
const causesMax = 8;

/**
 * The text of an error that ends the program: what happened, and the remedy. `--verbose` adds the stack trace and the causes. An unforeseen
 * error is reported as a bug of Stowage.
 */
export function errorText(error: unknown, options: ErrorTextOptions): string {
  // Messages of servers and names of files are text of others.
  return printableLines(withoutPasswords(rawText(error, options)));
}

function rawText(error: unknown, { isVerbose, help }: ErrorTextOptions): string {
  const hint = error instanceof UsageError ? `; see ${help}` : '';
  const message = `stowage: ${messageOf(error)}${hint}`;
  const isOurs = error instanceof QuestionError;
  if (!isVerbose)
    return isOurs ? `${message}\n` : `${message}\nThis should not happen; --verbose shows where it did.\n`;
  return [message, ...(isOurs ? [] : stackOf(error)), ...causesOf(error), ''].join('\n');
}

function causesOf(error: unknown): readonly string[] {
  const lines: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && depth < causesMax; depth += 1) {
    lines.push(
      `caused by: ${cause instanceof Error ? `${cause.name}: ` : ''}${messageOf(cause)}`,
      ...stackOf(cause),
    );
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
}

/** The stack trace without the message that it begins with. */
function stackOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
