import { join } from 'node:path';
import {
  CsiDriverConnections,
  type CsiDriverConnectionsOptions,
} from '../../../../csi/csi-driver-connections.ts';
import { FileKubeletDirectory } from './file-kubelet-directory.ts';
import type { CsiNodeSource, CsiNodeSources } from './node-plugins.ts';

/** The node plugins that are configured. */
export interface CsiNodeSettings {
  /** Where each node gets its directory. */
  readonly root: string;
  /** The addresses of plugins, `unix:///path` each, by the name of the node. */
  readonly plugins: ReadonlyMap<string, readonly string[]>;
}

/** Connects to the plugins; each may start later. */
export function connectNodePlugins(
  { root, plugins }: CsiNodeSettings,
  { random, ...options }: Omit<CsiDriverConnectionsOptions, 'addresses' | 'addressSource'>,
): CsiNodeSources {
  const sources = new Map<string, CsiNodeSource>();
  for (const [nodeName, addresses] of plugins) {
    const own = { addresses, addressSource: `--csi-node ${nodeName}`, random: random.fork(nodeName) };
    const drivers = new CsiDriverConnections({ ...options, ...own });
    sources.set(nodeName, { drivers, directory: new FileKubeletDirectory(join(root, nodeName)) });
  }
  return sources;
}
