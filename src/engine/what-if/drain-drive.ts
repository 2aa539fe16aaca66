import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import type { Drive, DriveVolume } from '../../kube/stowage/drive.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { drivePoolKey } from '../cluster-index/pools/drive-pool.ts';
import { readDrive } from '../drives/drive-record.ts';
import { isOfKind } from '../drives/drive-requirements.ts';
import { obstacleOn } from '../drives/drive-rule.ts';
import { WhatIfError } from './change.ts';
import type { ChangeSink } from './change-sink.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** Keeps new volumes away from the drive. */
export function cordonDrive(cluster: WhatIfCluster, name: string): void {
  const drive = cluster.get('Drive', name);
  if (drive === undefined)
    throw new WhatIfError(`there is no drive ${name}; stowage drives list lists those there are`);
  if (drive.spec?.unschedulable === true) return;
  cluster.put('Drive', { ...drive, spec: { ...drive.spec, unschedulable: true } });
}

/** Each volume of a cordoned drive is copied to another drive of the node, the largest first. */
export function drainDrive(name: string, sink: ChangeSink): void {
  const volumes = readDrive(sink.cluster.get('Drive', name) ?? {})
    .volumes.filter(({ state }) => state !== 'Releasing')
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.name < b.name ? -1 : 1));
  for (const volume of volumes) if (volume.podRef === undefined) moveVolume(name, volume, sink);
  evictInline(volumes, sink);
}

/** An inline volume has the lifetime of its pod. The pods leave in the order of their names. */
function evictInline(volumes: readonly DriveVolume[], { cluster, evict }: ChangeSink): void {
  const keys = new Set(
    volumes.flatMap(({ podRef }) => (podRef ? [`${podRef.namespace}/${podRef.name}`] : [])),
  );
  for (const key of [...keys].sort()) {
    const pod = cluster.index.pods.get(key);
    if (pod !== undefined && pod.nodeName !== '') evict(pod, 'drained');
  }
}

function moveVolume(source: string, volume: DriveVolume, { cluster, copy, settle }: ChangeSink): void {
  const { claimRef, sizeBytes } = volume;
  const claim = claimRef === undefined ? '' : `${claimRef.namespace}/${claimRef.name}`;
  const target = targetFor(cluster, source, volume, claim);
  const users = [...cluster.index.pods.usingClaim(claim)].filter(({ nodeName }) => nodeName !== '');
  copy({
    volume: volume.name,
    claim,
    driver: drivesDriver,
    bytes: sizeBytes,
    pod: users[0]?.key,
    from: `drive/${source}`,
    to: target && `drive/${target.metadata?.name}`,
  });
  if (target !== undefined) {
    moveEntry(cluster, source, target, volume);
    return;
  }
  const message = `volume ${volume.name} (${quantityOfBytes(sizeBytes)}) of claim ${claim} fits on no other drive of its node, and local volumes cannot leave their node`;
  for (const pod of users) settle(pod, 'drained', 'stuck', message);
}

/** The drive of the same node with the least free bytes that are enough, of the kind that the claim's class asks for. */
function targetFor(
  cluster: WhatIfCluster,
  source: string,
  { sizeBytes, spreadGroup }: DriveVolume,
  claim: string,
): Drive | undefined {
  const from = readDrive(cluster.get('Drive', source) ?? {});
  const className = cluster.index.claims.get(claim)?.className ?? '';
  const kind = cluster.index.classes.get(className)?.driveClass ?? { tier: from.tier, labels: {} };
  // Bytes that are promised to volumes that do not exist yet are not free, and keep volumes of the same group away.
  const { pools } = cluster.index;
  const free = ({ metadata }: Drive) => {
    const row = pools.row(drivePoolKey(metadata?.name ?? ''));
    return row === undefined ? 0 : pools.available(row).bytes;
  };
  return [...cluster.values('Drive')]
    .filter((drive) => {
      const record = readDrive(drive);
      if (record.name === source || record.nodeName !== from.nodeName) return false;
      if (!isOfKind(record, kind)) return false;
      const candidate = {
        isExcluded: record.exclusion !== undefined,
        freeBytes: free(drive),
        capacityBytes: record.capacityBytes,
        hasGroup: (group: string) => pools.drivesWithGroup(group)?.has(drivePoolKey(record.name)) === true,
      };
      return obstacleOn(candidate, sizeBytes, { spreadGroup }) === undefined;
    })
    .sort((a, b) => free(a) - free(b) || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1))[0];
}

function moveEntry(cluster: WhatIfCluster, source: string, target: Drive, volume: DriveVolume): void {
  const from = cluster.get('Drive', source);
  cluster.put('Drive', {
    ...target,
    spec: { ...target.spec, volumes: [...(target.spec?.volumes ?? []), volume] },
  });
  if (from === undefined) return;
  const volumes = (from.spec?.volumes ?? []).filter(({ name }) => name !== volume.name);
  cluster.put('Drive', { ...from, spec: { ...from.spec, volumes } });
}
