import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';

/** What a call has printed, and its exit status. */
export interface ProgramOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command line in the process of the test, which costs a small part of a new process. Only for calls that fail, and for help: after these
 * the program ends with `process.exit`, so that nothing that a command has left behind can keep it running. Calls that succeed need a process
 * (`callStowage`).
 */
export async function callInProcess(...args: readonly string[]): Promise<ProgramOutput> {
  return await callInFolder(process.cwd(), ...args);
}

/** The same, with another working directory. */
export async function callInFolder(folder: string, ...args: readonly string[]): Promise<ProgramOutput> {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      printed[name] += String(chunk);
      return true;
    }),
  );
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const environment = process.env;
  // As for processes: without colours and without the settings of the user who runs the tests.
  process.env = { PATH: environment.PATH, NO_COLOR: '1' };
  try {
    const status = await runCommandLine(args);
    if (status === undefined) throw new Error(`stowage ${args.join(' ')} succeeds, so it needs a process`);
    return { status, ...printed };
  } finally {
    process.env = environment;
    for (const spy of [...spies, cwd]) spy.mockRestore();
  }
}
