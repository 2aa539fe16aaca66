import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { diskAgentName } from '../../controllers/disk-agent/disk-agent-controller.ts';
import type {
  AgentNodeSettings,
  DiskAgentSettings,
} from '../../controllers/disk-agent/disk-agent-settings.ts';
import { isDataName } from '../../controllers/disk-agent/files/data-folder.ts';
import { usage } from '../errors/cli-error.ts';
import { parseListenAddress } from '../flags/listen-address.ts';

/** The flags of `run` for the agent of one node. */
export interface DiskAgentFlags {
  readonly nodeName?: string;
  readonly diskAgentAddress?: string;
}

/** The values of `--storage-node` of `up`: `NODE=DIR` each. */
export interface StorageNodeFlags {
  readonly storageNode?: readonly string[];
}

const diskAgentAddressDefault = ':7444';

/** The agent of this process's node; undefined if that controller does not run. */
export function diskAgentSettingsOf(
  { nodeName, diskAgentAddress }: DiskAgentFlags,
  { controllers }: { readonly controllers: readonly string[] },
): DiskAgentSettings | undefined {
  if (!controllers.includes(diskAgentName)) {
    if (diskAgentAddress === undefined) return undefined;
    throw usage(`--disk-agent-address: needs the controller ${diskAgentName}; name it in --controllers`);
  }
  if (nodeName === undefined || !isDataName(nodeName))
    throw usage(
      `--controllers ${diskAgentName}: needs the node of this process; give the name of its StorageNode with --node-name`,
    );
  const address = parseListenAddress(diskAgentAddress ?? diskAgentAddressDefault);
  if (address === undefined)
    throw usage(
      `--disk-agent-address: "${diskAgentAddress}" is no address; give HOST:PORT, or :PORT for every address`,
    );
  return { nodes: new Map([[nodeName, {}]]), listenHost: address.host, port: address.port };
}

export interface StorageNodeContext {
  readonly dataDirectory: string;
  readonly controllers: readonly string[];
  /** The address that `up` listens on. */
  readonly host: string;
  readonly isDemo: boolean;
}

/** The node of the demo that has a disk, and its directory below the data directory. */
const demoNode = 'node-c1';
const demoFolder = join('disks', demoNode);

/** The agents of `up`, in its own process; undefined without storage nodes. The directory of the demo's node is made later. */
export function storageNodeSettingsOf(
  { storageNode = [] }: StorageNodeFlags,
  { dataDirectory, controllers, host, isDemo }: StorageNodeContext,
): DiskAgentSettings | undefined {
  const isRunning = controllers.includes(diskAgentName);
  if (storageNode.length > 0 && !isRunning)
    throw usage(`--storage-node: needs the controller ${diskAgentName}; add it to --controllers`);
  const nodes = new Map<string, AgentNodeSettings>();
  for (const value of storageNode) {
    const { nodeName, diskPath } = parsedNode(value);
    if (nodes.has(nodeName))
      throw usage(
        `--storage-node: ${nodeName} is given twice; add further disks to spec.disks of its StorageNode`,
      );
    nodes.set(nodeName, { diskPath });
  }
  if (isDemo && isRunning && !nodes.has(demoNode))
    nodes.set(demoNode, { diskPath: join(dataDirectory, demoFolder) });
  return nodes.size === 0 ? undefined : { nodes, listenHost: host, port: 0 };
}

/** The directory of the demo's disk, which `up` makes. */
export function demoDiskPath(dataDirectory: string): string {
  return join(dataDirectory, demoFolder);
}

function parsedNode(value: string): { readonly nodeName: string; readonly diskPath: string } {
  const [, nodeName = '', path = ''] = /^([^=]*)=(.+)$/s.exec(value) ?? [];
  if (!isDataName(nodeName) || path === '')
    throw usage(
      `--storage-node: invalid value ${JSON.stringify(value)}; it must be NODE=DIR, such as node-1=/mnt/disk1`,
    );
  const diskPath = resolve(path);
  if (statSync(diskPath, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`--storage-node: ${diskPath} is not a directory; make it, or mount the disk there`);
  return { nodeName, diskPath };
}
