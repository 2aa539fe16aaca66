import { existsSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareDataDirectory, unusableDirectory } from '../../apiserver/store/data-directory.ts';
import { lockDirectory } from '../../apiserver/store/directory-lock.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { CliError } from '../errors/cli-error.ts';

/** The marker file of data directories that Stowage created, or that were empty. */
const marker = 'stowage-data';
const markerText = 'Made by stowage up. All that is in this directory belongs to it; --fresh deletes it.\n';

/** Marks a directory as ours if it is new or empty. A directory with other files stays unmarked, and is never deleted. */
export function markDataDirectory(directory: string): void {
  const path = prepareDataDirectory(directory);
  try {
    if (readdirSync(path).length > 0) return;
    writeFileSync(join(path, marker), markerText, { mode: 0o600 });
    // It holds credentials, and is often inside of a repository.
    writeFileSync(join(path, '.gitignore'), '*\n', { mode: 0o600 });
  } catch (error) {
    throw unusableDirectory(directory, fileSystemReason(error), error);
  }
}

/** Deletes the contents of the directory if it is ours and not in use; false if there is nothing to delete. */
export async function emptyDataDirectory(directory: string): Promise<boolean> {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return false;
  if (!existsSync(join(directory, marker)))
    throw new CliError(
      `--fresh: ${directory} is not deleted: it has no file ${marker}, so something else may be in it; ` +
        'delete it yourself, or choose another with --data',
    );
  const store = join(directory, 'store');
  const lock = existsSync(store) ? await lockDirectory(store) : undefined;
  try {
    // The marker goes last, so that an interrupted deletion can be repeated.
    const names = readdirSync(directory).sort((a, b) => Number(a === marker) - Number(b === marker));
    // The directory itself may be a link or a mount; links in it are removed, not followed.
    for (const name of names) rmSync(join(realpathSync(directory), name), { recursive: true, force: true });
  } finally {
    await lock?.release();
  }
  return true;
}
