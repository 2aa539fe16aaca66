import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { type Drive, drives, isSameUuid } from '../../kube/stowage/drive.ts';

export interface NewDrive {
  readonly nodeName: string;
  readonly uuid: string;
  readonly tier: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** How much of the UUID is in the name of the object. */
const namedDigits = 8;

export function driveNameOf({ nodeName, uuid }: Pick<NewDrive, 'nodeName' | 'uuid'>): string {
  return `${nodeName}-${uuid.slice(0, namedDigits)}`;
}

/**
 * Creates the Drive object of a formatted drive. If the object exists already, because an earlier call lost its answer, it stays as it is. The
 * status is left to the node service, which mounts the drive.
 */
export async function registerDrive(cluster: Cluster, drive: NewDrive): Promise<Drive> {
  const { nodeName, uuid, tier, labels } = drive;
  const name = driveNameOf(drive);
  const client = cluster.resource(drives);
  try {
    return await client.create({
      apiVersion: `${drives.group}/${drives.version}`,
      kind: drives.kind,
      metadata: { name, labels },
      spec: {
        nodeName,
        filesystemUUID: uuid,
        filesystemType: 'xfs',
        ...(tier !== undefined && { accessTier: tier }),
      },
    });
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
    const existing = await client.get({ name });
    if (!isSameUuid(existing.spec?.filesystemUUID, uuid)) throw error;
    return existing;
  }
}
