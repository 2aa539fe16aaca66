import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../apiserver/store/store-error.ts';

/** Files in the data directory that let their reader act as the admin. */
const secretFiles = ['token', 'service-accounts.key', 'tls.key'];
const [groupWrite, otherWrite, groupRead, otherRead] = [0o020, 0o002, 0o040, 0o004];

/**
 * Refuses a data directory that every user may write to, and credentials that every user may read or write: any of them could
 * become the admin of the cluster. Returns a warning where only the group may, which is how Kubernetes mounts volumes.
 */
export function checkDirectoryModes(directory: string): readonly string[] {
  // Windows has no such modes.
  if (process.platform === 'win32' || !existsSync(directory)) return [];
  const files = secretFiles.map((name) => join(directory, name)).filter((path) => existsSync(path));
  return [
    ...checkMode(directory, { refused: otherWrite, warned: groupWrite, remedy: `chmod go-w ${directory}` }),
    ...files.flatMap((path) =>
      checkMode(path, {
        refused: otherWrite | otherRead,
        warned: groupWrite | groupRead,
        remedy: `chmod 600 ${path}, or delete it to get a new one`,
      }),
    ),
  ];
}

interface ModeRule {
  readonly refused: number;
  readonly warned: number;
  readonly remedy: string;
}

function checkMode(path: string, { refused, warned, remedy }: ModeRule): readonly string[] {
  const mode = statSync(path).mode & 0o777;
  const shown = `mode ${mode.toString(8).padStart(3, '0')}`;
  if ((mode & refused) !== 0)
    throw new StoreError('Unusable', `${path} is open to every user of this machine (${shown}): ${remedy}`);
  return (mode & warned) === 0 ? [] : [`${path} is open to the users of its group (${shown}): ${remedy}`];
}
