import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type DeviceSignature, readDeviceSignature } from './device-signature.ts';
import { type DeviceMount, parseDeviceMounts, parseSwapDevices } from './mounted-devices.ts';
import type { SystemCommands } from './system-commands.ts';

/** A disk, a partition, or a device that the kernel builds from others. */
export interface BlockDevice {
  /** As the kernel calls it today: `sdb`. */
  readonly name: string;
  readonly path: string;
  readonly majorMinor: string;
  readonly sizeBytes: number;
  /** Maker and model; empty if the device does not say. */
  readonly make: string;
  /** The serial number or WWN; empty if the device does not say. */
  readonly serial: string;
  readonly isReadOnly: boolean;
  readonly isHidden: boolean;
  readonly isLoop: boolean;
  readonly isCdrom: boolean;
  readonly isSwap: boolean;
  readonly partitions: readonly string[];
  /** Devices that are built on it or its partitions: volume groups, RAID, encryption. */
  readonly holders: readonly string[];
  /** Also those of its partitions. */
  readonly mounts: readonly DeviceMount[];
  readonly signature: DeviceSignature;
}

export interface DeviceSources {
  readonly commands: SystemCommands;
  readonly sys?: string;
  readonly proc?: string;
  readonly dev?: string;
}

const sectorBytes = 512;
/** Devices without storage of their own. */
const ignoredNames = /^(ram|zram|fd|nbd)\d/;
/** The major number of SCSI CD-ROMs, see Documentation/admin-guide/devices.txt of Linux. */
const cdromMajor = '11';

/** All block devices of the node that have a size, by name. Probes each with `blkid`. */
export async function readBlockDevices(sources: DeviceSources): Promise<readonly BlockDevice[]> {
  const { sys = '/sys' } = sources;
  const names = (await readdir(join(sys, 'class/block'))).filter((name) => !ignoredNames.test(name));
  const use = await readUse(sources);
  const found: BlockDevice[] = [];
  for (const name of names.toSorted()) {
    const device = await readBlockDevice(name, use, sources);
    if (device !== undefined && device.sizeBytes > 0) found.push(device);
  }
  return found;
}

/** One device as it is now; undefined if there is no device of that name. */
export async function readNamedBlockDevice(
  name: string,
  sources: DeviceSources,
): Promise<BlockDevice | undefined> {
  return await readBlockDevice(name, await readUse(sources), sources);
}

/** Mounts and swap of the node. */
interface DeviceUse {
  readonly mounts: readonly DeviceMount[];
  readonly swaps: readonly string[];
}

async function readUse({ proc = '/proc' }: DeviceSources): Promise<DeviceUse> {
  const [mounts, swaps] = await Promise.all([
    readFile(join(proc, 'self/mountinfo'), 'utf8'),
    readFile(join(proc, 'swaps'), 'utf8').catch(() => ''),
  ]);
  return { mounts: parseDeviceMounts(mounts), swaps: parseSwapDevices(swaps) };
}

async function readBlockDevice(
  name: string,
  { mounts, swaps }: DeviceUse,
  { commands, sys = '/sys', dev = '/dev' }: DeviceSources,
): Promise<BlockDevice | undefined> {
  const folder = join(sys, 'class/block', name);
  const majorMinor = await textIn(folder, 'dev');
  // A device may vanish while it is read.
  if (majorMinor === '') return undefined;
  const sizeBytes = Number(await textIn(folder, 'size')) * sectorBytes;
  const path = join(dev, name.replaceAll('!', '/'));
  const partitions = await partitionsIn(folder);
  // A user of a partition is a user of the disk.
  const parts = await Promise.all(
    ['', ...partitions].map((part) => partUse(join(folder, part), join(dev, part || name))),
  );
  const isOf = (mount: DeviceMount) =>
    parts.some((part) => mount.majorMinor === part.majorMinor || mount.source === part.path);
  return {
    name,
    path,
    majorMinor,
    sizeBytes,
    make: await makeOf(name, folder),
    serial: await serialOf(folder),
    isReadOnly: (await textIn(folder, 'ro')) === '1',
    isHidden: (await textIn(folder, 'hidden')) === '1',
    isLoop: name.startsWith('loop'),
    isCdrom: majorMinor.split(':')[0] === cdromMajor,
    isSwap: parts.some((part) => swaps.includes(part.path)),
    partitions,
    holders: [...new Set(parts.flatMap((part) => part.holders))],
    mounts: mounts.filter(isOf),
    signature: await readDeviceSignature(path, commands),
  };
}

async function partUse(
  folder: string,
  path: string,
): Promise<{ readonly majorMinor: string; readonly path: string; readonly holders: readonly string[] }> {
  const holders = await entriesOf(join(folder, 'holders'));
  return { majorMinor: await textIn(folder, 'dev'), path: path.replaceAll('!', '/'), holders };
}

/** A partition has the make of its disk, a loop device the path of its file. */
async function makeOf(name: string, folder: string): Promise<string> {
  const disk = (await textIn(folder, 'partition')) === '' ? folder : join(await realFolder(folder), '..');
  const parts = [await textIn(disk, 'device/vendor'), await textIn(disk, 'device/model')];
  const make = parts.filter((part) => part !== '' && !part.startsWith('0x')).join(' ');
  if (make !== '') return make;
  return (await textIn(folder, name.startsWith('loop') ? 'loop/backing_file' : 'dm/name')) || '';
}

async function serialOf(folder: string): Promise<string> {
  for (const file of ['wwid', 'device/wwid', 'serial', 'device/serial', 'dm/uuid']) {
    const text = await textIn(folder, file);
    if (text !== '') return text;
  }
  return '';
}

/** Entries of /sys/class/block are links; a partition's folder is in that of its disk. */
async function realFolder(folder: string): Promise<string> {
  try {
    return join(folder, '..', await readlink(folder));
  } catch {
    return folder;
  }
}

async function partitionsIn(folder: string): Promise<readonly string[]> {
  const names = (await entriesOf(folder)).filter((name) => name.startsWith(basename(folder)));
  const found = await Promise.all(
    names.map(async (name) => ((await textIn(folder, `${name}/partition`)) === '' ? [] : [name])),
  );
  return found.flat();
}

async function entriesOf(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).toSorted();
}

/** Empty if there is no such file. */
async function textIn(folder: string, file: string): Promise<string> {
  return (await readFile(join(folder, file), 'utf8').catch(() => '')).trim();
}
