import { execFileSync } from 'node:child_process';
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Loop devices and mounts need root, and mkfs.xfs. */
export const canFormat =
  process.getuid?.() === 0 && existsSync('/dev/loop-control') && isInstalled('mkfs.xfs');

const deviceBytes = 600 * 2 ** 20;

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/** A new device of 600 MiB until the end of the test: the wanted one, or the first that is free. */
export function loopDevice(folder: string, name: string, wanted?: string): string {
  const file = join(folder, name);
  writeFileSync(file, '');
  truncateSync(file, deviceBytes);
  const which = wanted === undefined ? ['--find', '--show'] : ['--show', wanted];
  const device = execFileSync('losetup', [...which, file], { encoding: 'utf8' }).trim();
  onTestFinished(() => void execFileSync('losetup', ['--detach', device]));
  return device;
}
