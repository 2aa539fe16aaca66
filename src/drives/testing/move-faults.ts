import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite } from '../../cluster/testing/fault-hooks.ts';
import type { SystemCommands } from '../devices/system-commands.ts';
import type { ProjectQuota } from '../host/project-quota.ts';
import { VolumeDirectories } from '../host/volume-directories.ts';

/**
 * The fault of a process that moves volumes, at its nth call of the API server or of the system:
 * - `crash`: the call has changed something, and the process ends. Calls that only read are not counted.
 * - `lost answer`: the call has changed something and fails nevertheless, and the process goes on.
 * - `failure`: the call fails without effect, and the process goes on. Every call is counted.
 */
export type MoveFaultKind = 'crash' | 'lost answer' | 'failure';

export class MoveFaults {
  readonly #kind: MoveFaultKind;
  readonly #at: number;
  #count = 0;
  #hasEnded = false;

  constructor(kind: MoveFaultKind, at: number) {
    this.#kind = kind;
    this.#at = at;
  }

  /** Whether there were so many calls. */
  get hasHappened(): boolean {
    return this.#count >= this.#at;
  }

  async call<R>(isChange: boolean, run: () => Promise<R>): Promise<R> {
    const isHit = this.#isHit(isChange);
    const result = await run();
    if (isHit) this.#fail();
    return result;
  }

  /** A connection of the process. */
  cluster(cluster: Cluster): InterceptedCluster {
    const hits = new WeakSet<ClusterCall>();
    return new InterceptedCluster(cluster, {
      before: (call) => void (this.#isHit(isObjectWrite(call)) && hits.add(call)),
      after: (call) => void (hits.has(call) && this.#fail()),
    });
  }

  commands(commands: SystemCommands): SystemCommands {
    return { run: (program, args) => this.call(true, () => commands.run(program, args)) };
  }

  /** Directories or quota. `onChange` runs before each change. */
  methods<T extends object>(
    target: T,
    onChange: (method: string, args: readonly unknown[]) => Promise<void>,
  ): T {
    return new Proxy(target, {
      get: (object, key) => {
        const value = Reflect.get(object, key) as unknown;
        if (typeof value !== 'function') return value;
        return async (...args: readonly unknown[]) => {
          const isChange = !readers.has(key);
          if (isChange) await onChange(String(key), args);
          return await this.call(isChange, async () => await value.apply(object, args));
        };
      },
    });
  }

  #isHit(isChange: boolean): boolean {
    if (this.#hasEnded) throw new Error('ended');
    if (!isChange && this.#kind !== 'failure') return false;
    this.#count += 1;
    if (this.#count !== this.#at) return false;
    if (this.#kind === 'failure') throw new Error('failed');
    return true;
  }

  #fail(): never {
    this.#hasEnded = this.#kind === 'crash';
    throw new Error(this.#kind === 'crash' ? 'ended' : 'failed');
  }
}

const readers: ReadonlySet<string | symbol> = new Set(['find', 'isEmpty', 'names', 'remains']);

// ── The system without other processes ──

/** Creates the directory in memory if possible: every rename is synchronized, and the disk may be busy. */
export function moveFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'stowage-move-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const success = { status: 0, stdout: '', stderr: '' };

/** cp(1) as far as the trees of tests need it: whole seconds, no owners. The real one runs in `test/kubernetes`. */
export const inProcessCommands: SystemCommands = {
  run: async (program, args) => {
    if (program === 'cp') copyTree(args.at(-2)!, args.at(-1)!);
    return success;
  },
};

export function inProcessDirectories(): VolumeDirectories {
  return new VolumeDirectories(async (_, args) => {
    rmSync(args.at(-1)!, { recursive: true });
    return '';
  });
}

/** Remembers the limits of directories, by path; undefined: a project without a limit. */
export class RecordedQuota implements ProjectQuota {
  readonly mountOption = undefined;
  readonly limits = new Map<string, number | undefined>();

  async assign({ path }: { readonly path: string }): Promise<void> {
    this.limits.set(path, undefined);
  }

  async limit({ path }: { readonly path: string }, bytes: number): Promise<void> {
    this.limits.set(path, bytes);
  }

  async lift({ path }: { readonly path: string }): Promise<void> {
    this.limits.delete(path);
  }
}

export function copyTree(from: string, to: string): void {
  const found = lstatSync(from);
  const seconds = found.mtimeMs / 1000;
  if (found.isSymbolicLink()) {
    symlinkSync(readlinkSync(from), to);
    lutimesSync(to, seconds, seconds);
    return;
  }
  if (found.isDirectory()) {
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
  } else copyFileSync(from, to);
  chmodSync(to, found.mode & 0o7777);
  utimesSync(to, seconds, seconds);
}
