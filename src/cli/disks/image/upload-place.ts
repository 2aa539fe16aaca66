import type { Cluster } from '../../../cluster/cluster.ts';
import type { AgentAddress } from '../../../controllers/disk-agent/agent-address.ts';
import { agentAddressOf, isReadyDisk, storageNodeOf } from '../../../controllers/disk-agent/agent-address.ts';
import { mayMakeCopy } from '../../../engine/disks/images/may-make-copy.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { type BackingImage, backingImages } from '../../../kube/disks/backing-image.ts';
import { diskSchedules } from '../../../kube/disks/disk-schedule.ts';
import { storageNodes } from '../../../kube/disks/storage-node.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../cli-error.ts';

/** What an uploaded image waits for. */
export type UploadStage =
  | { readonly kind: 'ready' }
  /** The agent at this address takes the bytes. */
  | { readonly kind: 'place'; readonly address: AgentAddress; readonly node: string }
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Looks at the image, the disks of its copies and the agents there. */
export async function uploadStage(
  cluster: Cluster,
  name: string,
  uid: string | undefined,
): Promise<UploadStage> {
  const image = await undefinedIfNotFound(cluster.resource(backingImages).get({ name }));
  if (image === undefined || image.metadata?.uid !== uid || image.metadata?.deletionTimestamp !== undefined)
    throw new CliError(`image ${name} was deleted meanwhile; call the command again to make it again`);
  const files = Object.values(image.status?.diskFileStatusMap ?? {});
  if (files.some(({ state }) => state === 'ready')) return { kind: 'ready' };
  const failed = files.find(({ state }) => state === 'failed');
  if (failed !== undefined) return { kind: 'failed', message: failed.message ?? 'the agent gives no reason' };
  return await placeOf(cluster, image);
}

/** The first disk that may have a copy, as the agents see it. */
async function placeOf(cluster: Cluster, image: BackingImage): Promise<UploadStage> {
  const uuids = Object.keys(image.spec?.diskFileSpecMap ?? {}).sort();
  if (uuids.length === 0)
    return { kind: 'waiting', message: allocationMessage(image) ?? 'no disk has been chosen yet' };
  const [schedules, nodes] = await Promise.all([
    Promise.all(
      uuids.map((uuid) => undefinedIfNotFound(cluster.resource(diskSchedules).get({ name: uuid }))),
    ),
    cluster.resource(storageNodes).list(),
  ]);
  let message = allocationMessage(image) ?? 'the chosen disk has not granted the bytes yet';
  for (const [at, uuid] of uuids.entries()) {
    if (!mayMakeCopy(image, uuid, schedules[at])) continue;
    const node = storageNodeOf(nodes.items, uuid);
    if (node === undefined || !isReadyDisk(node, uuid)) {
      message = `disk ${uuid} does not answer`;
      continue;
    }
    const address = agentAddressOf(node);
    const nodeName = node.metadata?.name ?? '';
    if (address !== undefined) return { kind: 'place', address, node: nodeName };
    message = `StorageNode ${nodeName} has no status.upload; check that its agent runs`;
  }
  return { kind: 'waiting', message };
}

function allocationMessage({ status }: BackingImage): string | undefined {
  const found = getCondition(status?.conditions, 'DiskAllocation');
  return found?.status === 'False' ? found.message : undefined;
}
