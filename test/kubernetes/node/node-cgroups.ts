import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = '/sys/fs/cgroup';
/** Far more than the processes of a node need to disappear, also on a busy machine. */
const removedWithinMs = 120_000;

/** The cgroups of a node: one folder below our own for each hierarchy. */
export class NodeCgroups {
  readonly version: 'v1' | 'v2';
  readonly folders: readonly string[];

  constructor(name: string) {
    this.version = existsSync(join(root, 'cgroup.controllers')) ? 'v2' : 'v1';
    const own = `stowage-node-${name}`;
    this.folders =
      this.version === 'v2' ? [join(root, own)] : hierarchies().map((folder) => join(folder, own));
  }

  async create(): Promise<void> {
    for (const folder of this.folders) {
      await removeAbandoned(dirname(folder));
      await mkdir(folder, { recursive: true });
      // Without these, no process may enter.
      for (const file of ['cpuset.cpus', 'cpuset.mems']) {
        if (this.version === 'v1' && existsSync(join(folder, file)))
          await writeFile(join(folder, file), readFileSync(join(folder, '..', file)));
      }
    }
  }

  /** Processes may take a moment to disappear after they were killed. */
  async remove(): Promise<void> {
    const giveUpAtMs = Date.now() + removedWithinMs;
    for (const folder of this.folders)
      for (;;) {
        await removeTree(folder).catch(() => {});
        if (!existsSync(folder) || Date.now() > giveUpAtMs) break;
        await sleep(50);
      }
  }
}

/** Those of test processes that were killed; the name contains the process. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const [, pid] = /^stowage-node-(\d+)-/.exec(entry) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      await removeTree(join(parent, entry)).catch(() => {});
  }
}

/** The folder of this process in each hierarchy of version 1. */
function hierarchies(): readonly string[] {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, controllers = '', path = ''] = line.split(':');
    const folder = join(root, controllers.replace(/^name=/, ''));
    return controllers !== '' && existsSync(folder) ? [join(folder, path)] : [];
  });
}

/** Only folders can be removed; the files in them are the kernel's. */
async function removeTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if ((await stat(path)).isDirectory()) await removeTree(path);
  }
  await rmdir(folder);
}
