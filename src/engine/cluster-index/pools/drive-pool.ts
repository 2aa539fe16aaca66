import { compileLabelSelector } from '../../../kube/selectors/label-selector.ts';
import { type Drive, driveNodeKey, drivesDriver } from '../../../kube/stowage/drive.ts';
import { type DriveRecord, promisedBytes, readDrive } from '../../drives/drive-record.ts';
import { driveKindKey } from '../../drives/drive-requirements.ts';
import type { Interner } from '../../records/interner.ts';
import { matcherOfLabels, type NodeMatcher, noNode } from '../../records/node-matcher.ts';
import type { DriveFacts, DrivePod, PoolRecord } from '../../records/pool-record.ts';
import { sizeOfBytes } from '../../size.ts';

/**
 * A Drive as a separate pool. Its free bytes are the capacity less the sum of its ledger, so they include exactly the volumes in the
 * ledger. A drive that takes no new volumes publishes nothing.
 */
export function readDrivePool(object: Drive, interner: Interner): PoolRecord {
  const drive = readDrive(object);
  const problems: string[] = [];
  const key = drivePoolKey(drive.name);
  const free =
    drive.exclusion === undefined ? sizeOfBytes(drive.capacityBytes - promisedBytes(drive)) : undefined;
  return {
    key,
    source: key,
    object: drive.name,
    form: 'Drive',
    version: drive.version,
    name: drive.name,
    driver: drivesDriver,
    storageClass: '',
    backing: key,
    ownBacking: key,
    isShared: false,
    nodes: interner.matcher(nodesOfDrive(drive, problems)),
    free,
    largest: free,
    expiresAtMs: undefined,
    measuredAtMs: undefined,
    isTracked: true,
    published: undefined,
    drive: {
      tier: drive.tier,
      labels: drive.labels,
      kindKey: interner.text(driveKindKey(drive)),
      nodeName: drive.nodeName,
      exclusion: drive.exclusion,
      user: drive,
      ...claimsIn(drive),
      pods: podsIn(drive),
      groups: new Set(
        drive.volumes.flatMap(({ spreadGroup = '' }) => (spreadGroup === '' ? [] : [spreadGroup])),
      ),
      capacityBytes: drive.capacityBytes,
      usedBytes: promisedBytes(drive),
    },
    problems,
  };
}

export function drivePoolKey(driveName: string): string {
  return `Drive ${driveName}`;
}

/** Matches the topology that CreateVolume is called with: the label of the node, which has the node's name. */
function nodesOfDrive({ nodeName }: DriveRecord, problems: string[]): NodeMatcher {
  const compiled = compileLabelSelector({ matchLabels: { [driveNodeKey]: nodeName } }, 'spec.nodeName');
  if (nodeName !== '' && compiled.ok) return matcherOfLabels(compiled.selector);
  problems.push(
    nodeName === ''
      ? 'spec.nodeName: is missing; no node reaches this drive'
      : `spec.nodeName: must be a valid value of the label ${driveNodeKey}; until then no node reaches this drive`,
  );
  return noNode;
}

const volumePrefix = 'pvc-';

/** The claims whose volumes are in the ledger, by uid. The name of a volume has the uid too. */
function claimsIn({ volumes }: DriveRecord): Pick<DriveFacts, 'claims' | 'claimBytes'> {
  const claims = new Map<string, string>();
  const claimBytes = new Map<string, number>();
  for (const { name, claimRef, sizeBytes } of volumes) {
    const uid = claimRef?.uid ?? (name.startsWith(volumePrefix) ? name.slice(volumePrefix.length) : '');
    if (uid === '') continue;
    claims.set(uid, claimRef === undefined ? '' : `${claimRef.namespace}/${claimRef.name}`);
    claimBytes.set(uid, sizeBytes);
  }
  return { claims, claimBytes };
}

/** The pods whose inline volumes are in the ledger. An entry does not say which volume of the pod it is. */
function podsIn({ volumes }: DriveRecord): ReadonlyMap<string, DrivePod> {
  const pods = new Map<string, DrivePod>();
  for (const { podRef, sizeBytes } of volumes) {
    const { namespace, name, uid = '' } = podRef ?? { namespace: '', name: '' };
    if (uid === '') continue;
    const sizes = [...(pods.get(uid)?.sizes ?? []), sizeBytes];
    pods.set(uid, { podKey: `${namespace}/${name}`, sizes });
  }
  return pods;
}
