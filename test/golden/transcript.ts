import { callOnTerminal } from '../up/in-process.ts';
import type { GoldenCommand } from './every-command.ts';

export interface TranscriptOptions {
  /** Flags of every call, such as `--kubeconfig FILE`; not shown. */
  readonly flags: readonly string[];
  /** Replaces `FOLDER` in arguments. */
  readonly folder: string;
  /** The width of the terminal; undefined for a file. */
  readonly columns?: number | undefined;
  /** Hides what differs between runs. */
  readonly mask: (text: string) => string;
}

const stackTrace = /\n\s+at .+:\d+:\d+/;

/** What each call prints: the command line, standard output, standard error, and the exit status. */
export async function transcript(
  commands: readonly GoldenCommand[],
  { flags, folder, columns, mask }: TranscriptOptions,
): Promise<string> {
  const parts: string[] = [];
  for (const { name, args = [] } of commands) {
    const words = [...name.split(' '), ...args];
    const called = words.map((word) => word.replace('FOLDER', folder));
    const { status, stdout, stderr } = await callOnTerminal(columns, ...called, ...flags);
    if (stackTrace.test(stderr))
      throw new Error(`stowage ${words.join(' ')} prints a stack trace: ${stderr}`);
    parts.push(`$ stowage ${words.join(' ')}\n${mask(stdout)}${mask(stderr)}(status ${status})\n`);
  }
  return parts.join('\n');
}
