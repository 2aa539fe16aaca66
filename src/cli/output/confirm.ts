import { createInterface } from 'node:readline/promises';
import { CliError, usage } from '../errors/cli-error.ts';

/** Asks on the terminal, unless `--yes` was given. Any other answer than yes ends the command. Without a terminal, the error has the statement before the question. */
export async function confirm(question: string, isConfirmed: boolean | undefined): Promise<void> {
  if (isConfirmed === true) return;
  if (process.stdin.isTTY !== true)
    throw usage(
      `${statementOf(question)} Standard input is not a terminal, so nothing can be confirmed; add --yes`,
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new CliError('nothing was changed, because it was not confirmed');
  } finally {
    lines.close();
  }
}

/** `It is erased. Continue?` → `It is erased.` */
function statementOf(question: string): string {
  return question.replace(/ Continue\?$/, '');
}
