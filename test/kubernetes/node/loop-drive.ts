import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { runCommand, runIfPossible } from './commands.ts';

/** mkfs.xfs refuses smaller ones. */
const sizeMiBDefault = 320;
const pollMs = 20;

export interface LoopDriveOptions {
  readonly sizeMiB?: number;
  /** True by default. */
  readonly isFormatted?: boolean;
  /** The device to use if it is free: another process may take it at any time. */
  readonly device?: string;
}

/** A file as a block device. All namespaces of this machine see it; it ends with the test. */
export class LoopDrive {
  /** The UUID of the filesystem, if it was formatted here. */
  readonly uuid = randomUUID();
  readonly #image: string;
  #device = '';

  static async create({
    sizeMiB = sizeMiBDefault,
    isFormatted = true,
    device,
  }: LoopDriveOptions = {}): Promise<LoopDrive> {
    await detachAbandoned();
    const folder = await mkdtemp(join(tmpdir(), `stowage-drive-${process.pid}-`));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const drive = new LoopDrive(join(folder, 'image'));
    const file = await open(drive.#image, 'w');
    await file.truncate(sizeMiB * 1024 * 1024);
    await file.close();
    // Ended first: it uses the file.
    onTestFinished(() => drive.detach());
    if (isFormatted) await runCommand('mkfs.xfs', '-q', '-m', `uuid=${drive.uuid}`, drive.#image);
    await drive.attach(device);
    return drive;
  }

  private constructor(image: string) {
    this.#image = image;
  }

  /** Such as `/dev/loop3`; it may be another one after each `attach`. */
  get device(): string {
    return this.#device;
  }

  async attach(wanted?: string): Promise<void> {
    const any = () => runCommand('losetup', '--find', '--show', this.#image);
    const { stdout } =
      wanted === undefined
        ? await any()
        : await runCommand('losetup', '--show', wanted, this.#image).catch(any);
    this.#device = stdout.trim();
  }

  /** Resolves when the device is gone: other processes that look at all devices may keep it for a moment. */
  async detach(): Promise<void> {
    const device = this.#device;
    if (device === '') return;
    this.#device = '';
    await runIfPossible('losetup', '--detach', device);
    while (await this.#isBehind(device)) await sleep(pollMs);
  }

  async #isBehind(device: string): Promise<boolean> {
    const file = join('/sys/block', basename(device), 'loop/backing_file');
    return (await readFile(file, 'utf8').catch(() => '')).startsWith(this.#image);
  }
}

/** Devices of test processes that were killed; the path contains the process. */
async function detachAbandoned(): Promise<void> {
  const { stdout } = await runCommand('losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE');
  for (const [, device = '', pid = ''] of stdout.matchAll(/^(\S+)\s+\S*\/stowage-drive-(\d+)-/gm)) {
    if (!existsSync(`/proc/${pid}`)) await runIfPossible('losetup', '--detach', device);
  }
}
