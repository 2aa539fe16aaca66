import type { RealNode } from './real-node.ts';

const sizeMiB = 320;

/** Mounts an XFS file system of its own at `path` on the node. It ends with the node. */
export async function xfsDisk(node: RealNode, path: string): Promise<void> {
  const image = `${path}.img`;
  await node.exec('mkdir', '-p', path);
  await node.exec('truncate', '-s', `${sizeMiB}M`, image);
  await node.exec('mkfs.xfs', '-q', image);
  await node.exec('mount', '-o', 'loop', image, path);
}
