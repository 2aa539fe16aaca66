import type { Controller } from '../../reconcile/controller.ts';
import type { DiskAgentSettings } from './disk-agent-settings.ts';
import { type HostFiles, hostFiles } from './files/host-files.ts';
import { runStorageNodeAgent } from './storage-node-agent.ts';
import { newToken } from './transfer/bearer-token.ts';

export const diskAgentName = 'disk-agent';

export interface DiskAgentControllerSettings {
  /** The nodes whose agent this process is; without it, the controller does nothing. */
  readonly diskAgent?: DiskAgentSettings | undefined;
  /** The files of this machine, unless set. */
  readonly diskAgentFiles?: HostFiles | undefined;
}

/** Keeps the data of replicas and images in files on the disks of one or more nodes, and writes the status of those StorageNodes. */
export function diskAgentController({
  diskAgent,
  diskAgentFiles,
}: DiskAgentControllerSettings = {}): Controller {
  return {
    name: diskAgentName,
    run: async (context, signal) => {
      if (diskAgent === undefined) return;
      const { nodes, ...settings } = diskAgent;
      const files = diskAgentFiles ?? hostFiles(context.ids);
      const agents = [...nodes].map(([nodeName, node], at) =>
        runStorageNodeAgent(
          context,
          {
            nodeName,
            node,
            settings: { ...settings, port: at === 0 ? settings.port : 0 },
            files,
            newToken,
          },
          signal,
        ),
      );
      await Promise.all(agents);
    },
  };
}
