import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import { drivePoolKey } from '../cluster-index/pools/drive-pool.ts';
import { lookUpInlinePools } from '../cluster-index/pools/pool-lookup.ts';
import { inlineVolumeId } from '../cluster-index/pools/promise-ids.ts';
import { chooseOnNode, type OtherVolume } from '../drives/choose-with-others.ts';
import { DriveIndex } from '../drives/drive-index.ts';
import { readDrive } from '../drives/drive-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** The node service writes the entries of inline volumes when the pod starts: the scheduler has decided on all pods that were created at the same time. */
export const inlinePublicationMs = 10;

interface InlineOnDrive extends OtherVolume {
  readonly name: string;
}

/** The service draws among equal drives; the prediction takes the first by name. */
const firstDrive = { int: () => 0 };

/**
 * Writes the entries of the pod's inline volumes into the ledgers of drives, as the node service does it: that service chooses the drive, and it may be another
 * one than the scheduler has planned. Does nothing if the pod has left, or if no service runs on its node.
 */
export function publishInlineVolumes(cluster: WhatIfCluster, { key, uid }: PodRecord): void {
  const pod = cluster.index.pods.stored(key);
  if (pod === undefined || pod.uid !== uid || pod.nodeName === '' || pod.isDeleting) return;
  const names = reachableDrives(cluster, pod);
  const records = names.map((name) => readDrive(cluster.get('Drive', name) ?? {}));
  if (!records.some(({ hasNodeService }) => hasNodeService)) return;
  const index = new DriveIndex();
  for (const record of records) {
    index.set(record);
    const bytes = promisedToOthers(cluster, record.name, pod);
    if (bytes > 0) index.hold(record.name, 'promised', { bytes });
  }
  const volumes = volumesOnDrives(pod);
  for (const [at, volume] of volumes.entries()) {
    const choice = chooseOnNode(index, pod.nodeName, volume, volumes.slice(at + 1), firstDrive);
    // The service repeats the call until there is room.
    if (choice.kind !== 'drive') continue;
    index.set(readDrive(addEntry(cluster, choice.drive.name, volume, pod)));
  }
}

function volumesOnDrives({ key, inlineVolumes }: PodRecord): readonly InlineOnDrive[] {
  return inlineVolumes.flatMap(({ volumeName, size, drive }) => {
    if (drive === undefined || size === undefined) return [];
    const name = inlineVolumeId(key, volumeName);
    return [{ name, bytes: Math.ceil(size.bytes), tier: drive.tier, labels: drive.labels }];
  });
}

/** Names of the drives that one of the pod's inline volumes may be on. */
function reachableDrives(
  { index }: WhatIfCluster,
  { nodeName, inlineVolumes }: PodRecord,
): readonly string[] {
  const { nodes, pools } = index;
  const node = nodes.row(nodeName);
  if (node === undefined) return [];
  const names = new Set<string>();
  for (const volume of inlineVolumes) {
    const found = lookUpInlinePools(index, volume);
    if (found.kind !== 'pools' || !found.entry.isOfDrives) continue;
    for (const row of pools.partitionFor(found.entry, nodes.rowCount).itemsAt(node))
      names.add(pools.record(row).name);
  }
  return [...names].sort();
}

/** The bytes that are promised to other volumes: volumes of predicted claims have no entry. */
function promisedToOthers(
  { index }: WhatIfCluster,
  drive: string,
  { key, inlineVolumes }: PodRecord,
): number {
  const own = new Set(inlineVolumes.map(({ volumeName }) => inlineVolumeId(key, volumeName)));
  let sum = 0;
  for (const [id, { bytes }] of index.pools.promisesOf(drivePoolKey(drive))) if (!own.has(id)) sum += bytes;
  return sum;
}

function addEntry(cluster: WhatIfCluster, name: string, volume: InlineOnDrive, pod: PodRecord): Drive {
  const drive = cluster.get('Drive', name) ?? {};
  const entry: DriveVolume = {
    name: volume.name,
    sizeBytes: volume.bytes,
    podRef: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
  };
  const changed = { ...drive, spec: { ...drive.spec, volumes: [...(drive.spec?.volumes ?? []), entry] } };
  cluster.put('Drive', changed);
  return changed;
}
