import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../project-root.ts';
import { eventually } from '../drives-on-node.ts';
import type { InstalledBed } from './installed-bed.ts';

const pod = ['pod/init-drives', '--namespace=kube-system'] as const;

/** Formats a device of a node with `examples/init-drives.yaml`, as users do who have nothing but the image on the node. */
export async function initDrive(bed: InstalledBed, node: string, device: string): Promise<void> {
  const text = await readFile(join(projectRoot, 'examples/init-drives.yaml'), 'utf8');
  const manifest = text.replaceAll(/\bn1\b/g, node).replace('/dev/sdb', device);
  await bed.kubectlWith(manifest, 'apply', '-f', '-');
  const phase = await eventually(
    () => bed.kubectl('get', ...pod, '-o', 'jsonpath={.status.phase}'),
    (seen) => seen === 'Succeeded' || seen === 'Failed',
  );
  if (phase === 'Failed') throw new Error(await bed.kubectl('logs', ...pod));
  await bed.kubectl('delete', ...pod);
}
