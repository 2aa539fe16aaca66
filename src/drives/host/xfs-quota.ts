import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { ProjectQuota, VolumeDirectory } from './project-quota.ts';
import { runProgram } from './run-program.ts';

/** Candidates for a project's id that are tried; with 1,000 volumes on a drive, the second is needed once in a million. */
const candidatesMax = 16;

type Run = typeof runProgram;

/**
 * XFS project quota, through xfs_io and xfs_quota. A directory's project is stored in its inode, and everything below inherits it. Commands
 * contain only numbers: names and paths are arguments of their own, which neither program interprets.
 */
export class XfsProjectQuota implements ProjectQuota {
  readonly mountOption = 'prjquota';
  readonly #run: Run;

  constructor(run: Run = runProgram) {
    this.#run = run;
  }

  async assign(directory: VolumeDirectory): Promise<void> {
    await this.#assigned(directory);
  }

  /** The project first, the limit second: a crash in between leaves a directory whose project the next call finds. */
  async limit(directory: VolumeDirectory, bytes: number): Promise<void> {
    await this.#setLimit(directory.mount, await this.#assigned(directory), bytes);
  }

  async lift(directory: VolumeDirectory): Promise<void> {
    const id = await this.#projectOf(directory);
    if (id !== 0) await this.#setLimit(directory.mount, id, 0);
  }

  async #assigned(directory: VolumeDirectory): Promise<number> {
    const known = await this.#projectOf(directory);
    return known === 0 ? await this.#newProject(directory) : known;
  }

  /** 0: the default project, which has no limit. */
  async #projectOf({ path }: VolumeDirectory): Promise<number> {
    const [, id] = /projid = (\d+)/.exec(await this.#run('xfs_io', ['-r', '-c', 'lsproj', path])) ?? [];
    if (id === undefined) throw new Error(`xfs_io does not say which project ${path} has`);
    return Number(id);
  }

  /**
   * A directory without project may have content, if the drive was used without quota before. Pods made that content: only files and folders are
   * opened, because a link leads elsewhere, and a pipe or a device does not return. The directory itself is last, so that after a crash the next
   * call starts again.
   */
  async #newProject({ mount, path, volume }: VolumeDirectory): Promise<number> {
    const report = await this.#run('xfs_quota', ['-x', '-c', 'report -p -n -N -b -i', mount]);
    const used = new Set([...report.matchAll(/^#(\d+)/gm)].map(([, id]) => Number(id)));
    const id = projectIds(volume).find((one) => !used.has(one));
    if (id === undefined) throw new Error(`no project of the filesystem at ${mount} is free for ${volume}`);
    const [types, change] = [
      ['(', '-type', 'f', '-o', '-type', 'd', ')'],
      ['xfs_io', '-r', '-c', `chproj ${id}`, '-c', 'chattr +P', '{}', '+'],
    ];
    await this.#run('find', [path, '-depth', '-xdev', ...types, '-exec', ...change], { runMsMax: 0 });
    return id;
  }

  /** 0 bytes: no limit. */
  async #setLimit(mount: string, id: number, bytes: number): Promise<void> {
    await this.#run('xfs_quota', ['-x', '-c', `limit -p bhard=${bytes} ${id}`, mount]);
  }
}

/** Derived from the name, so that the same volume gets the same id in most cases; from 1 to 2^31 - 1, which all versions of the programs read. */
function projectIds(volume: string): readonly number[] {
  return Array.from({ length: candidatesMax }, (_, at) => {
    const bits = createHash('sha256').update(`${volume}\0${at}`).digest().readUInt32BE(0) >>> 1;
    return Math.max(1, bits);
  });
}

/** `unknown` while the kernel has not loaded XFS: mounting a filesystem loads it. */
export async function quotaSupport(proc = '/proc'): Promise<'yes' | 'no' | 'unknown'> {
  try {
    const files = await readdir(`${proc}/fs/xfs`);
    return files.some((file) => file.startsWith('xqm')) ? 'yes' : 'no';
  } catch {
    return 'unknown';
  }
}
