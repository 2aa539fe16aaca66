import { open } from 'node:fs/promises';
import { failureText, type SystemCommands } from './system-commands.ts';

/** The known contents of a device. All fields are empty if nothing is known. */
export interface DeviceSignature {
  /** The type of the filesystem or other data: `xfs`, `ext4`, `LVM2_member`, `swap`; `unknown` if there is something that blkid does not know. */
  readonly type: string;
  readonly uuid: string;
  readonly label: string;
  /** The type of the partition table: `gpt`, `dos`. */
  readonly partitionTable: string;
  /** Why the device could not be read. */
  readonly error?: string;
}

const emptySignature: DeviceSignature = { type: '', uuid: '', label: '', partitionTable: '' };

/** The statuses of `blkid -p`. */
const nothingFound = 2;
const severalFound = 8;

/** The part of a device that is checked for contents that blkid does not know: newer filesystems, databases, encrypted data. */
const beginningBytes = 64 * 1024;

/** Reads the device itself, not the cache of blkid. A device that cannot be read is not empty: it has an error. */
export async function readDeviceSignature(path: string, commands: SystemCommands): Promise<DeviceSignature> {
  const outcome = await commands.run('blkid', ['-p', '-o', 'export', path]);
  if (outcome.status === nothingFound)
    return outcome.stderr.trim() === ''
      ? await signatureOfUnknown(path)
      : { ...emptySignature, error: failureText('blkid', outcome) };
  if (outcome.status === severalFound) return { ...emptySignature, type: 'several filesystems' };
  if (outcome.status !== 0) return { ...emptySignature, error: failureText('blkid', outcome) };
  const fields = new Map(
    outcome.stdout.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [] : [[line.slice(0, at), unescapedValue(line.slice(at + 1))] as const];
    }),
  );
  const field = (name: string) => fields.get(name) ?? '';
  return {
    type: field('TYPE'),
    uuid: field('UUID'),
    label: field('LABEL'),
    partitionTable: field('PTTYPE'),
  };
}

async function signatureOfUnknown(path: string): Promise<DeviceSignature> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(beginningBytes), 0, beginningBytes, 0);
      const isBlank = buffer.subarray(0, bytesRead).every((byte) => byte === 0);
      return isBlank ? emptySignature : { ...emptySignature, type: 'unknown' };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ...emptySignature, error: (error as Error).message };
  }
}

/** `-o export` puts a backslash before characters that a shell would interpret. */
function unescapedValue(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
