import { execFile } from 'node:child_process';

/** The outcome of a program that ended by itself. */
export interface CommandOutcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts programs of the system. Arguments are passed as a list, and no shell interprets them. */
export interface SystemCommands {
  run(program: string, args: readonly string[]): Promise<CommandOutcome>;
}

/** A program that could not be started, or that failed. The message names it and the remedy. */
export class SystemCommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SystemCommandError';
  }
}

/** Longer output does not help in an error message. */
const outputMax = 10 * 2 ** 20;
const messageLinesMax = 3;

/** The packages that have the programs we use. */
const packages: Readonly<Record<string, string>> = {
  'mkfs.xfs': 'xfsprogs',
  xfs_repair: 'xfsprogs',
  blkid: 'util-linux',
  wipefs: 'util-linux',
  mount: 'util-linux',
  umount: 'util-linux',
};

export const realSystemCommands: SystemCommands = {
  run: (program, args) =>
    new Promise((resolve, reject) => {
      const options = { maxBuffer: outputMax, env: { ...process.env, LC_ALL: 'C' } };
      execFile(program, [...args], options, (error, stdout, stderr) => {
        if (error === null) return resolve({ status: 0, stdout, stderr });
        if (typeof error.code === 'number') return resolve({ status: error.code, stdout, stderr });
        reject(startFailure(program, error));
      });
    }),
};

/** Runs a program that must succeed. */
export async function runSuccessfully(
  commands: SystemCommands,
  program: string,
  args: readonly string[],
): Promise<string> {
  const outcome = await commands.run(program, args);
  if (outcome.status !== 0) throw new SystemCommandError(failureText(program, outcome));
  return outcome.stdout;
}

/** The output of a failed program, as one line. */
export function failureText(program: string, { status, stdout, stderr }: CommandOutcome): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n').map((line) => line.trim());
  const said = lines.filter((line) => line !== '').slice(0, messageLinesMax);
  return `${program} failed with status ${status}${said.length === 0 ? '' : `: ${said.join('; ')}`}`;
}

function startFailure(program: string, error: NodeJS.ErrnoException | Error): SystemCommandError {
  const isMissing = 'code' in error && error.code === 'ENOENT';
  const remedy = packages[program] === undefined ? '' : `; install the package ${packages[program]}`;
  const text = isMissing ? `${program} is not installed${remedy}` : `${program}: ${error.message}`;
  return new SystemCommandError(text, { cause: error });
}
