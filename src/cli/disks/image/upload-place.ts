import type { Cluster } from '../../../cluster/cluster.ts';
import {
  type AgentAddress,
  agentAddressOf,
  storageNodeOf,
} from '../../../controllers/disk-agent/agent-address.ts';
import { firstCopyDisk } from '../../../controllers/disk-agent/images/copy-origin.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { type BackingImage, backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskSchedules } from '../../../kube/stowage/disk-schedule.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { CliError } from '../../errors/cli-error.ts';

/** The state of an image that waits for an upload. */
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

/** The disk of the first copy, as the agents see it. */
async function placeOf(cluster: Cluster, image: BackingImage): Promise<UploadStage> {
  const uuids = Object.keys(image.spec?.diskFileSpecMap ?? {});
  const [found, nodes] = await Promise.all([
    Promise.all(
      uuids.map((uuid) => undefinedIfNotFound(cluster.resource(diskSchedules).get({ name: uuid }))),
    ),
    cluster.resource(storageNodes).list(),
  ]);
  const schedules = new Map(found.map((schedule, at) => [uuids[at]!, schedule]));
  const uuid = firstCopyDisk(image, { nodes: nodes.items, schedules });
  const node = uuid === undefined ? undefined : storageNodeOf(nodes.items, uuid);
  if (node === undefined) return { kind: 'waiting', message: waitingMessage(image) };
  const address = agentAddressOf(node);
  const nodeName = node.metadata?.name ?? '';
  if (address !== undefined) return { kind: 'place', address, node: nodeName };
  const message = `StorageNode ${nodeName} has no status.upload; check that its agent runs`;
  return { kind: 'waiting', message };
}

function waitingMessage({ spec, status }: BackingImage): string {
  const allocation = getCondition(status?.conditions, 'DiskAllocation');
  if (allocation?.status === 'False' && allocation.message) return allocation.message;
  const hasPlace = Object.keys(spec?.diskFileSpecMap ?? {}).length > 0;
  return hasPlace ? 'no disk of its copies answers' : 'no disk has been chosen yet';
}
