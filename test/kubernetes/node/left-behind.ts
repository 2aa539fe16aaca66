import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runCommand } from './commands.ts';
import { NodeCgroups } from './node-cgroups.ts';

/** Leftovers of this process on the machine: devices, network links and cgroups. Their names contain the process. */
export async function leftBehind(): Promise<readonly string[]> {
  const devices = await runCommand('losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE');
  const links = await runCommand('ip', '-o', 'link');
  const lines = `${devices.stdout}${links.stdout}`.split('\n');
  const own = new RegExp(`/stowage-drive-${process.pid}-|\\bstow\\d+-${process.pid}\\b`);
  return [...lines.filter((line) => own.test(line)), ...(await cgroupsLeft())];
}

async function cgroupsLeft(): Promise<readonly string[]> {
  const parents = new NodeCgroups('any').folders.map((folder) => dirname(folder)).filter(existsSync);
  const names = await Promise.all(parents.map((folder) => readdir(folder)));
  return names.flat().filter((name) => name.startsWith(`stowage-node-${process.pid}-`));
}
