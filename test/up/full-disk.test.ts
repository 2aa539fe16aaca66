import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { callStowage, temporaryFolder } from './stowage-process.ts';

/** A file system of that size, which only root can create; undefined for other users. */
function smallDisk(kibibytes: number): string | undefined {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

// The first is too small to start, the second too small for the writes.
test.for([100, 300])('a full disk of %i KiB is reported with a remedy', async (kibibytes, { skip }) => {
  const disk = smallDisk(kibibytes);
  if (disk === undefined) return skip('only root can make such a disk');
  const data = join(disk, 'data');
  const { status, stderr } = await callStowage('up', '--demo', '--data', data, '--port', '0');
  expect([status, stderr.trimEnd().split('\n').at(-1)]).toEqual([
    1,
    expect.stringMatching(/^stowage: the d.* full; .*choose another with --data$/),
  ]);
});
