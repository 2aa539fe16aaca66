import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../project-root.ts';
import { ProcessSupervisor } from '../process-supervisor.ts';
import type { UmlKernel } from './uml-kernel.ts';

const initScript = join(projectRoot, 'test/kubernetes/uml/uml-init.sh');
const memoryMiB = 768;
/** A command that has not ended by then is ended, and the console has what each of its tasks waited for. */
const commandMaxSeconds = 1_200;
/** A kernel that has not ended by then hangs itself. */
const kernelMaxMs = (commandMaxSeconds + 90) * 1000;
const megabyte = 1024 * 1024;

export interface UmlOptions {
  /** The program and its arguments, as paths of this machine. */
  readonly command: readonly string[];
  /** `/dev/ubda`, `/dev/ubdb` and so on. */
  readonly disks: number;
  readonly diskMiB: number;
}

export interface UmlResult {
  /** Undefined if the kernel ended before the command did, or hung; 124 if the command did not end. */
  readonly status: number | undefined;
  /** What the command printed. */
  readonly output: string;
  /** What the kernel printed. */
  readonly console: string;
}

/** Boots the kernel, runs the command as root in it, and shuts it down. Nothing of it outlives this process. */
export async function runInUml(kernel: UmlKernel, options: UmlOptions): Promise<UmlResult> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-uml-'));
  const data = join(folder, 'data');
  const share = join(data, 'share');
  await mkdir(share, { recursive: true });
  const supervisor = new ProcessSupervisor({ data, logs: folder });
  try {
    await writeFile(join(share, 'command'), `exec ${options.command.map(quoted).join(' ')}\n`);
    const disks = await createDisks(data, options);
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: data,
      LD_PRELOAD: kernel.library,
      // The memory of the kernel is a file there.
      TMPDIR: existsSync('/dev/shm') ? '/dev/shm' : data,
    };
    const args = [...kernelArguments(data), ...disks, `SHARE=${share}`, `LIMIT=${commandMaxSeconds}`];
    await supervisor.start('kernel', { program: kernel.program, args, env });
    await untilEnded(supervisor);
    const status = await textOf(join(share, 'status'));
    return {
      status: status === '' ? undefined : Number(status),
      output: await textOf(join(share, 'output')),
      console: supervisor.log('kernel'),
    };
  } finally {
    await supervisor.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilEnded(supervisor: ProcessSupervisor): Promise<void> {
  const patience = new AbortController();
  const late = sleep(kernelMaxMs, 'late', { signal: patience.signal }).catch(() => 'late');
  if ((await Promise.race([supervisor.exitOf('kernel'), late])) === 'late')
    await supervisor.stop('kernel', 'SIGKILL');
  patience.abort();
}

function kernelArguments(data: string): readonly string[] {
  const root = ['rootfstype=hostfs', 'ro', 'root=/dev/root', 'rootflags=/', `init=${initScript}`];
  const consoles = ['con=null', 'con0=null,fd:1', 'con1=null', 'quiet'];
  return [`mem=${memoryMiB}M`, ...root, ...consoles, 'umid=kernel', `uml_dir=${data}`];
}

async function createDisks(data: string, { disks, diskMiB }: UmlOptions): Promise<readonly string[]> {
  const args: string[] = [];
  for (let at = 0; at < disks; at += 1) {
    const path = join(data, `disk${at}`);
    const file = await open(path, 'w');
    await file.truncate(diskMiB * megabyte);
    await file.close();
    args.push(`ubd${at}=${path}`);
  }
  return args;
}

/** The kernel may not have come as far. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
