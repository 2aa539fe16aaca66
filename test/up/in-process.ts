import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';

/** The output of a call, and its exit status. */
export interface ProgramOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command line in the process of the test, which costs a small part of a new process. That a command which succeeds leaves nothing
 * behind that keeps its process running, only a process shows: for each command, at least one call that succeeds is made by `callStowage`.
 */
export async function callInProcess(...args: readonly string[]): Promise<ProgramOutput> {
  return await callInFolder(process.cwd(), ...args);
}

/** The same, with another working directory. */
export async function callInFolder(folder: string, ...args: readonly string[]): Promise<ProgramOutput> {
  return await callWith({ folder }, ...args);
}

/** The same, with a terminal so wide as standard output; without one, a file. */
export async function callOnTerminal(
  columns: number | undefined,
  ...args: readonly string[]
): Promise<ProgramOutput> {
  const stream = { isTTY: process.stdout.isTTY, columns: process.stdout.columns };
  Object.assign(process.stdout, { isTTY: columns !== undefined, columns });
  try {
    return await callInProcess(...args);
  } finally {
    Object.assign(process.stdout, stream);
  }
}

async function callWith(
  { folder }: { readonly folder: string },
  ...args: readonly string[]
): Promise<ProgramOutput> {
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
    return { status: status ?? Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.exitCode = undefined;
    process.env = environment;
    for (const spy of [...spies, cwd]) spy.mockRestore();
  }
}
