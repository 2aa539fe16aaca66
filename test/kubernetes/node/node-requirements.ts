import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The commands of a node and the Debian packages that contain them. */
const packageOf: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  runc: 'runc',
  ip: 'iproute2',
  iptables: 'iptables',
  busybox: 'busybox-static',
  'mkfs.xfs': 'xfsprogs',
  nsenter: 'util-linux',
};
const cniPlugin = '/usr/lib/cni/ptp';

/** For `describe.skipIf`: true if this machine cannot run a node. With `CI=true` that is an error instead. */
export function lacksRealNode(): boolean {
  const missing = missingPackages();
  const isRoot = process.getuid?.() === 0;
  if (missing.length === 0 && isRoot) return false;
  const text = isRoot
    ? `a real node needs the Debian packages ${missing.join(', ')}`
    : 'a real node needs root, for namespaces and mounts';
  if (process.env.CI === 'true') throw new Error(text);
  process.stderr.write(`${text}. Tests that need one are SKIPPED.\n`);
  return true;
}

function missingPackages(): readonly string[] {
  const commands = Object.entries(packageOf).filter(([command]) => !isInPath(command));
  const plugins = isExecutable(cniPlugin) ? [] : ['containernetworking-plugins'];
  return [...commands.map(([, name]) => name), ...plugins];
}

function isInPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
