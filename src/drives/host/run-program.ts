import { execFile } from 'node:child_process';

/** A program that waits for a broken device is killed after this time. */
const runMsMaxDefault = 60_000;
const outputBytesMax = 4 * 1024 * 1024;

/** A program ended with another code than 0, or could not be started. */
class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Runs a program without a shell, and resolves with its output. Arguments are passed as they are. `runMsMax` 0: it may take any time. */
export function runProgram(
  file: string,
  args: readonly string[],
  { runMsMax = runMsMaxDefault }: { readonly runMsMax?: number } = {},
): Promise<string> {
  const options = {
    timeout: runMsMax,
    killSignal: 'SIGKILL',
    maxBuffer: outputBytesMax,
    // Messages in English; users may lack the folders of administrators' programs.
    env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, LC_ALL: 'C' },
  } as const;
  return new Promise((resolve, reject) => {
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new ProgramError(`${file}: ${reasonOf(error, stderr)}`, { cause: error }));
    });
  });
}

function reasonOf(
  error: Error & { readonly code?: unknown; readonly killed?: boolean },
  stderr: string,
): string {
  if (error.code === 'ENOENT') return 'the program is not installed; install util-linux and xfsprogs';
  if (error.killed === true) return `it was killed, as it did not end in time; the device may be broken`;
  const [line] = stderr.trim().split('\n');
  return line === undefined || line === '' ? error.message : line;
}
