import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DeviceSources } from '../block-device.ts';
import type { CommandOutcome, SystemCommands } from '../system-commands.ts';

export interface FakeDevice {
  readonly majorMinor: string;
  readonly sizeBytes?: number;
  /** Files below its folder in sysfs. */
  readonly files?: Readonly<Record<string, string>>;
  readonly filesystem?: { readonly type: string; readonly uuid?: string; readonly label?: string };
  readonly partitionTable?: string;
  /** The bytes at the beginning of the device. */
  readonly bytes?: string;
  readonly mountPoint?: string;
}

interface FakeFilesystem {
  readonly type: string;
  readonly uuid?: string;
  readonly label?: string;
}

/** Folders with the form of /sys, /proc and /dev, and programs that act on them as the real ones act on devices. */
export class DeviceTree implements SystemCommands {
  readonly #root: string;
  readonly #filesystems = new Map<string, FakeFilesystem>();
  readonly #tables = new Map<string, string>();
  readonly #mounts = new Map<string, string>();
  readonly #majors = new Map<string, string>();
  /** Every call, as it would be typed. */
  readonly calls: string[] = [];
  /** The program of this name fails, or ends the test's process where it throws. */
  intercept: (program: string) => Promise<CommandOutcome> | undefined = () => undefined;

  private constructor(root: string) {
    this.#root = root;
  }

  static async create(devices: Readonly<Record<string, FakeDevice>>): Promise<DeviceTree> {
    const root = await mkdtemp(join(tmpdir(), 'stowage-devices-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const tree = new DeviceTree(root);
    await Promise.all(['sys/class/block', 'dev', 'proc/self', 'content'].map((name) => tree.#folder(name)));
    await tree.#write('proc/swaps', 'Filename Type Size Used Priority\n');
    for (const [name, device] of Object.entries(devices)) await tree.add(name, device);
    return tree;
  }

  get sources(): DeviceSources {
    return { commands: this, sys: this.path('sys'), proc: this.path('proc'), dev: this.path('dev') };
  }

  path(...names: readonly string[]): string {
    return join(this.#root, ...names);
  }

  async add(name: string, device: FakeDevice): Promise<void> {
    const { majorMinor, sizeBytes = 2 ** 30, files = {}, filesystem, partitionTable, bytes = '' } = device;
    const all = { dev: majorMinor, size: String(sizeBytes / 512), ro: '0', ...files };
    for (const [file, text] of Object.entries(all))
      await this.#write(join('sys/class/block', name, file), text);
    const path = this.path('dev', name);
    await writeFile(path, bytes);
    this.#majors.set(path, majorMinor);
    if (filesystem !== undefined) this.#filesystems.set(path, filesystem);
    if (partitionTable !== undefined) this.#tables.set(path, partitionTable);
    if (device.mountPoint !== undefined) this.#mounts.set(device.mountPoint, path);
    await this.#writeMounts();
  }

  async swapOn(...names: readonly string[]): Promise<void> {
    const lines = names.map((name) => `${this.path('dev', name)} partition 1 0 -2\n`);
    await this.#write('proc/swaps', `Filename Type Size Used Priority\n${lines.join('')}`);
  }

  /** A file in the filesystem of a device. */
  async put(name: string, file: string, text: string): Promise<void> {
    await this.#write(join('content', name, file), text);
  }

  filesystemOf(name: string): FakeFilesystem | undefined {
    return this.#filesystems.get(this.path('dev', name));
  }

  async run(program: string, args: readonly string[]): Promise<CommandOutcome> {
    this.calls.push([program, ...args].join(' ').replaceAll(this.#root, ''));
    const replaced = this.intercept(program);
    if (replaced !== undefined) return await replaced;
    const path = args.at(-1)!;
    switch (program) {
      case 'blkid':
        return this.#blkid(path);
      case 'wipefs':
        this.#filesystems.delete(path);
        this.#tables.delete(path);
        await rm(this.path('content', basename(path)), { recursive: true, force: true });
        return success();
      case 'mkfs.xfs':
        return await this.#format(path, args);
      case 'mount':
        return await this.#mount(args.at(-2)!, path);
      case 'umount':
        return await this.#unmount(path);
      case 'xfs_repair':
        return success();
      default:
        throw new Error(`no such program: ${program}`);
    }
  }

  #blkid(path: string): CommandOutcome {
    const { type, uuid, label } = this.#filesystems.get(path) ?? {};
    const fields = { TYPE: type, UUID: uuid, LABEL: label, PTTYPE: this.#tables.get(path) };
    const lines = Object.entries(fields).flatMap(([key, value]) => (value ? [`${key}=${value}\n`] : []));
    return lines.length === 0 ? { status: 2, stdout: '', stderr: '' } : success(lines.join(''));
  }

  async #format(path: string, args: readonly string[]): Promise<CommandOutcome> {
    const [, uuid = ''] = /uuid=(\S+)/.exec(args.join(' ')) ?? [];
    const isKnown = this.#filesystems.has(path) || this.#tables.has(path);
    if (isKnown && !args.includes('-f'))
      return { status: 1, stdout: '', stderr: `mkfs.xfs: ${path} appears to contain a filesystem` };
    this.#filesystems.set(path, { type: 'xfs', uuid, label: args[args.indexOf('-L') + 1]! });
    await rm(this.path('content', basename(path)), { recursive: true, force: true });
    return success();
  }

  async #mount(path: string, folder: string): Promise<CommandOutcome> {
    if (this.#filesystems.get(path)?.type !== 'xfs')
      return { status: 32, stdout: '', stderr: 'mount: wrong fs type' };
    await this.#folder(join('content', basename(path)));
    await cp(this.path('content', basename(path)), folder, { recursive: true });
    this.#mounts.set(folder, path);
    await this.#writeMounts();
    return success();
  }

  async #unmount(folder: string): Promise<CommandOutcome> {
    const path = this.#mounts.get(folder);
    if (path === undefined) return { status: 32, stdout: '', stderr: 'umount: not mounted' };
    await cp(folder, this.path('content', basename(path)), { recursive: true });
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    this.#mounts.delete(folder);
    await this.#writeMounts();
    return success();
  }

  async #writeMounts(): Promise<void> {
    const lines = [...this.#mounts].map(
      ([mountPoint, path]) =>
        `36 1 ${this.#majors.get(path)} / ${mountPoint.replaceAll(' ', '\\040')} rw - xfs ${path} rw\n`,
    );
    await this.#write('proc/self/mountinfo', lines.join(''));
  }

  async #folder(name: string): Promise<void> {
    await mkdir(this.path(name), { recursive: true });
  }

  async #write(file: string, text: string): Promise<void> {
    await mkdir(join(this.path(file), '..'), { recursive: true });
    await writeFile(this.path(file), text);
  }
}

function success(stdout = ''): CommandOutcome {
  return { status: 0, stdout, stderr: '' };
}
