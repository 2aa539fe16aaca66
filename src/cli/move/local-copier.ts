import { getuid } from 'node:process';
import type { Cluster } from '../../cluster/cluster.ts';
import { realSystemCommands } from '../../drives/devices/system-commands.ts';
import { isSameUuid } from '../../kube/stowage/drive.ts';
import { allDevices } from '../drives/discover.ts';
import { moveBetweenDrives } from '../drives/move.ts';
import { driveNamed } from '../drives/named-drives.ts';
import type { DriveCopier } from './move-context.ts';

/** Copies between drives of this machine; undefined if the drive is in another machine, or this process is not root. */
export async function localCopier(cluster: Cluster, drive: string): Promise<DriveCopier | undefined> {
  if (getuid?.() !== 0) return undefined;
  const { spec } = await driveNamed(cluster, drive);
  const devices = await allDevices({ commands: realSystemCommands });
  if (!devices.some(({ signature }) => isSameUuid(signature.uuid, spec?.filesystemUUID))) return undefined;
  return {
    copy: async (job, onProgress) => {
      await moveBetweenDrives(cluster, job, (text) => onProgress(`moving ${text}`));
    },
  };
}
