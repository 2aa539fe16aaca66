import { constants } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostDevice } from './drive-host.ts';

/** Where the kernel shows its block devices, and where their files are. */
export interface DeviceFolders {
  readonly sys: string;
  readonly dev: string;
}

const systemFolders: DeviceFolders = { sys: '/sys', dev: '/dev' };

/** The first bytes of a superblock: magic number, block size and other numbers, and from byte 32 the UUID. */
const superblockBytes = 48;
const uuidAt = 32;

/** Devices that are read at the same time. One that is broken may not answer for minutes; others of the process's reads go on meanwhile. */
const readersMax = 2;

/**
 * The devices with an XFS filesystem, by its UUID. It reads superblocks, and not the links in /dev/disk/by-uuid, because udev may be missing,
 * and links show only one of two devices with the same UUID.
 */
export async function xfsDevices(
  folders: DeviceFolders = systemFolders,
): Promise<ReadonlyMap<string, readonly HostDevice[]>> {
  const names = (await readdir(join(folders.sys, 'class/block'))).toSorted();
  const found = new Map<string, readonly HostDevice[]>();
  const waiting = names.values();
  const read = async () => {
    for (const name of waiting) {
      const device = await usableDevice(name, folders);
      const uuid = device === undefined ? undefined : await filesystemUuid(device.path);
      if (device === undefined || uuid === undefined) continue;
      const make = await makeOf(join(folders.sys, 'class/block', name));
      found.set(uuid, [...(found.get(uuid) ?? []), { ...device, make }]);
    }
  };
  await Promise.all(Array.from({ length: readersMax }, read));
  return found;
}

/** A device that another one uses, such as a path of a multipath device, has the same superblock: only the upper one counts. */
async function usableDevice(
  name: string,
  { sys, dev }: DeviceFolders,
): Promise<{ readonly path: string; readonly number: string } | undefined> {
  const folder = join(sys, 'class/block', name);
  const size = await textIn(join(folder, 'size'));
  const holders = await readdir(join(folder, 'holders')).catch(() => []);
  if (size === undefined || size === '0' || holders.length > 0) return undefined;
  const event = (await textIn(join(folder, 'uevent'))) ?? '';
  const value = (key: string) => new RegExp(`^${key}=(.+)$`, 'm').exec(event)?.[1];
  const [major, minor, file] = [value('MAJOR'), value('MINOR'), value('DEVNAME')];
  if (major === undefined || minor === undefined || file === undefined) return undefined;
  return { path: join(dev, file), number: `${major}:${minor}` };
}

/** Undefined if the device cannot be read, or has no XFS. */
async function filesystemUuid(path: string): Promise<string | undefined> {
  try {
    // Without O_NONBLOCK a drive without medium would wait for one.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(superblockBytes);
      const { bytesRead } = await handle.read(bytes, 0, superblockBytes, 0);
      if (bytesRead < superblockBytes || bytes.toString('latin1', 0, 4) !== 'XFSB') return undefined;
      return uuidText(bytes.toString('hex', uuidAt));
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function uuidText(digits: string): string {
  return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, digits);
}

/** A partition has it from its disk. */
async function makeOf(folder: string): Promise<string | undefined> {
  for (const device of ['device', '../device']) {
    const parts = [await textIn(join(folder, device, 'vendor')), await textIn(join(folder, device, 'model'))];
    const words = parts.filter((part) => part !== undefined && part !== '' && !part.startsWith('0x'));
    if (words.length > 0) return words.join(' ');
  }
  return undefined;
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch {
    return undefined;
  }
}
