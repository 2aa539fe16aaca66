import { execFile } from 'node:child_process';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of this machine; rejects with its output if it fails. */
export function runCommand(program: string, ...args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr });
      else reject(new Error(`${program} ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`));
    });
  });
}

/** For clean-up: what is not there need not be removed. */
export async function runIfPossible(program: string, ...args: readonly string[]): Promise<void> {
  await runCommand(program, ...args).catch(() => {});
}
