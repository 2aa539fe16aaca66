import type { PersistentVolume } from '../../kube/api/core.ts';
import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { qualifiedPlural } from '../../kube/resource.ts';
import {
  csiNodes,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
} from '../../kube/resources.ts';
import {
  type Drive,
  type DriveVolume,
  driveNameKey,
  driveNodeKey,
  drives,
  drivesDriver,
  isSameUuid,
} from '../../kube/stowage/drive.ts';
import type { Invariant, StoredVersion } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

const drivesResource = qualifiedPlural(drives);

/** A drive may be smaller later, when another filesystem is mounted; then nothing new is promised. People may create a Drive with a ledger. */
const promisesFitOnTheirDrive: Invariant = {
  name: 'what is promised on a drive fits there',
  onVersion: (version) => {
    if (version.resource !== drivesResource) return undefined;
    const { before, after } = version as StoredVersion<Drive>;
    if (before === undefined) return undefined;
    const known = entriesByName(before);
    const entries = after?.spec?.volumes ?? [];
    if (!entries.some(({ name, sizeBytes }) => sizeBytes > (known.get(name)?.sizeBytes ?? 0)))
      return undefined;
    const capacity = after?.status?.capacityBytes ?? 0;
    const promised = promisedBytes(after);
    return promised <= capacity ? undefined : `drive ${version.key}: ${promised} bytes of ${capacity}`;
  },
};

const newVolumesAreOnReadyDrives: Invariant = {
  name: 'a drive gets a new volume only while it is ready, and neither cordoned nor being deleted',
  onVersion: (version) => {
    if (version.resource !== drivesResource) return undefined;
    const { before, after } = version as StoredVersion<Drive>;
    if (before === undefined || takesVolumes(before)) return undefined;
    const known = entriesByName(before);
    const added = (after?.spec?.volumes ?? []).find(({ name }) => !known.has(name));
    return added === undefined ? undefined : `drive ${version.key} gets volume ${added.name}`;
  },
};

/** The data of a volume is deleted by its entry, and its bytes are given to others. */
const entriesInUseStay: Invariant = {
  name: 'the entry of a volume stays while the claim of its PersistentVolume exists',
  onVersion: (version, state) => {
    if (version.resource !== drivesResource) return undefined;
    const { before, after } = version as StoredVersion<Drive>;
    const left = entriesByName(after);
    const ended = (before?.spec?.volumes ?? []).find(
      ({ name, state: earlier }) =>
        earlier !== 'Releasing' && !isActive(left.get(name)) && isInUse(name, version.key, state),
    );
    return ended === undefined ? undefined : `drive ${version.key}: ${ended.name}`;
  },
};

/** Its bytes may be promised to others from then on. */
const dataGoesBeforeItsEntry: Invariant = {
  name: 'a drive has no data of a volume whose entry is gone',
  onVersion: (version, state, storage) => {
    if (version.resource !== drivesResource || storage === undefined) return undefined;
    const { before, after } = version as StoredVersion<Drive>;
    const left = entriesByName(after);
    const { nodeName = '', filesystemUUID = '' } = before?.spec ?? {};
    const others = [...state.values(drives)].filter((drive) => isOnSameFilesystem(drive, before));
    const removed = (before?.spec?.volumes ?? []).find(
      ({ name }) =>
        !left.has(name) &&
        storage.hasDriveData(nodeName, filesystemUUID, name) &&
        !others.some((drive) => entriesByName(drive).has(name)),
    );
    return removed === undefined ? undefined : `drive ${version.key}: ${removed.name}`;
  },
};

const dataInUseStays: Invariant = {
  name: 'no data of a drive is removed while a pod uses it',
  atRest: (_, { driveDataRemovedInUse }) => driveDataRemovedInUse,
};

/** Several Drives may name one filesystem: an entry that goes from one ledger means the same directory as that of another. */
const heldDataStays: Invariant = {
  name: 'no data of a drive is removed while an entry of its filesystem is active',
  atRest: (_, { driveDataRemovedWhileHeld }) => driveDataRemovedWhileHeld,
};

/** Its bytes would count twice. */
const filesystemsAreReadyOnce: Invariant = {
  name: 'a drive becomes ready only while no older Drive of its node names the same filesystem',
  onVersion: (version, state) => {
    if (version.resource !== drivesResource) return undefined;
    const { before, after } = version as StoredVersion<Drive>;
    if (after?.status?.state !== 'Ready' || before?.status?.state === 'Ready') return undefined;
    const older = [...state.values(drives)].find(
      (other) => isOnSameFilesystem(other, after) && isOlder(other, after),
    );
    return older === undefined ? undefined : `drive ${version.key}, and drive ${older.metadata?.name}`;
  },
};

/** A PersistentVolume that is created late, when its claim and its bytes are gone, has no data and is deleted again. */
const volumesHaveTheirBytes: Invariant = {
  name: 'a PersistentVolume on a drive, whose claim exists, is not larger than its entry there',
  onVersion: (version, state) => {
    if (version.resource !== 'persistentvolumes') return undefined;
    const { before, after } = version as StoredVersion<PersistentVolume>;
    const drive = driveOf(after);
    const size = sizeOf(after);
    if (after === undefined || drive === undefined || size <= sizeOf(before) || !hasClaim(after, state))
      return undefined;
    const entry = entriesByName(state.get(drives, drive)).get(version.key);
    if (isActive(entry) && size <= (entry?.sizeBytes ?? 0)) return undefined;
    return `volume ${version.key} has ${size} bytes, and drive ${drive} has ${entry?.sizeBytes ?? 'none'} for it`;
  },
};

/**
 * Every entry has a PersistentVolume that names its drive, or a claim for which the volume is being created; and the other way round. The entries of
 * deleted volumes are gone.
 */
const ledgersMatchVolumes: Invariant = {
  name: 'when the system is at rest, every volume has one entry, and every entry a volume',
  atRest: (state) => {
    const claims = new Set([...state.values(persistentVolumeClaims)].map(({ metadata }) => metadata?.uid));
    const entries = [...state.values(drives)].flatMap(({ metadata, spec }) =>
      (spec?.volumes ?? []).map((entry) => ({ ...entry, drive: metadata?.name ?? '' })),
    );
    const leaked = entries.filter(({ name, drive, state: progress }) => {
      // The node service deletes the data when the drive is back.
      if (progress === 'Releasing' && state.get(drives, drive)?.status?.state !== 'Ready') return false;
      const volume = state.get(persistentVolumes, name);
      return volume === undefined ? !claims.has(name.replace(/^pvc-/, '')) : driveOf(volume) !== drive;
    });
    const lost = [...state.values(persistentVolumes)].filter((volume) => {
      const { metadata } = volume;
      const drive = driveOf(volume);
      return drive !== undefined && !entriesByName(state.get(drives, drive)).has(metadata?.name ?? '');
    });
    return [
      ...leaked.map(
        ({ name, drive }) => `drive ${drive} has an entry of ${name}, and no PersistentVolume names it`,
      ),
      ...lost.map(({ metadata }) => `PersistentVolume ${metadata?.name} has no entry on its drive`),
    ];
  },
};

const capacityReportsAreThoseOfTheLedgers: Invariant = {
  name: 'when the system is at rest, the capacity report of every node with drives is what its ledgers say',
  atRest: (state) => {
    const reports = [...state.values(csiStorageCapacities)].filter(
      ({ nodeTopology }) => nodeTopology?.matchLabels?.[driveNodeKey] !== undefined,
    );
    const registered = [...state.values(csiNodes)].filter(({ spec }) =>
      spec?.drivers?.some(({ name }) => name === drivesDriver),
    );
    return registered.flatMap(({ metadata }) => {
      const node = metadata?.name ?? '';
      const own = reports.filter(({ nodeTopology }) => nodeTopology?.matchLabels?.[driveNodeKey] === node);
      if (own.length !== 1) return [`${node} has ${own.length} capacity reports`];
      const [published, actual] = [capacityReportText(own[0]), roomText(node, state)];
      return published === actual
        ? []
        : [`the capacity report of ${node} is ${published}, and its drives have ${actual}`];
    });
  },
};

const statesAreThoseOfTheDevices: Invariant = {
  name: 'when the system is at rest, a drive is ready if a device has its filesystem, lost if none has, and in error if an older Drive names it too',
  atRest: (state, { isConnected }) =>
    [...state.values(drives)].flatMap((drive) => {
      const { metadata, spec, status } = drive;
      const hasDevice = isConnected(spec?.nodeName ?? '', spec?.filesystemUUID ?? '');
      const isSecond = [...state.values(drives)].some(
        (other) => isOnSameFilesystem(other, drive) && isOlder(other, drive),
      );
      const expected = isSecond ? 'Error' : hasDevice ? 'Ready' : 'Lost';
      if (hasDevice === undefined || status?.state === expected) return [];
      return [`drive ${metadata?.name} is ${status?.state ?? 'without a state'}, and should be ${expected}`];
    }),
};

const nodesOfDrivesAreRegistered: Invariant = {
  name: 'when the system is at rest, every node with drives has the label and the CSINode entry of their driver',
  atRest: (state) => {
    const names = new Set([...state.values(drives)].map(({ spec }) => spec?.nodeName ?? ''));
    return [...names].flatMap((name) => {
      const node = state.get(nodes, name);
      if (node === undefined) return [];
      const entries = state.get(csiNodes, name)?.spec?.drivers ?? [];
      const hasLabel = node.metadata?.labels?.[driveNodeKey] === name;
      return hasLabel && entries.some((driver) => driver.name === drivesDriver)
        ? []
        : [`node ${name} is not registered`];
    });
  },
};

/** A claim that its drive has no room for is tried again every few minutes, as external-resizer does. */
const drivesComeToRest: Invariant = {
  name: 'when faults have stopped, the system settles, except for refused expansions, which are retried',
  atRest: (state, { lateVersions }) => {
    const growing = [...state.values(persistentVolumeClaims)]
      .filter(
        ({ spec, status }) =>
          bytesOf(spec?.resources?.requests?.storage) > bytesOf(status?.capacity?.storage),
      )
      .map(({ metadata }) => `persistentvolumeclaims/${metadata?.namespace}/${metadata?.name} `);
    const late = lateVersions.filter((text) => !growing.some((claim) => text.includes(claim)));
    return late.length === 0 ? [] : [`${late.length} late versions, first ${late[0]}`];
  },
};

/** Invariants of drives, their ledgers, and the volumes on them. */
export const driveInvariants: readonly Invariant[] = [
  promisesFitOnTheirDrive,
  newVolumesAreOnReadyDrives,
  entriesInUseStay,
  dataGoesBeforeItsEntry,
  dataInUseStays,
  heldDataStays,
  filesystemsAreReadyOnce,
  volumesHaveTheirBytes,
  ledgersMatchVolumes,
  capacityReportsAreThoseOfTheLedgers,
  statesAreThoseOfTheDevices,
  nodesOfDrivesAreRegistered,
  drivesComeToRest,
];

function entriesByName(drive: Drive | undefined): ReadonlyMap<string, DriveVolume> {
  return new Map((drive?.spec?.volumes ?? []).map((entry) => [entry.name, entry]));
}

/** Another Drive of the node with the same filesystem. */
function isOnSameFilesystem(drive: Drive, than: Drive | undefined): boolean {
  return (
    drive.metadata?.uid !== than?.metadata?.uid &&
    drive.spec?.nodeName === than?.spec?.nodeName &&
    isSameUuid(drive.spec?.filesystemUUID, than?.spec?.filesystemUUID)
  );
}

function isOlder({ metadata }: Drive, than: Drive): boolean {
  const ageOf = (one: Drive['metadata']) => `${one?.creationTimestamp} ${one?.uid}`;
  return ageOf(metadata) < ageOf(than.metadata);
}

function isActive(entry: DriveVolume | undefined): boolean {
  return entry !== undefined && entry.state !== 'Releasing';
}

function promisedBytes(drive: Drive | undefined): number {
  return (drive?.spec?.volumes ?? []).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function takesVolumes({ metadata, spec, status }: Drive): boolean {
  return (
    metadata?.deletionTimestamp === undefined && spec?.unschedulable !== true && status?.state === 'Ready'
  );
}

/** Whether a claim has this volume on this drive. */
function isInUse(name: string, drive: string, state: StoredObjects): boolean {
  const volume = state.get(persistentVolumes, name);
  return volume !== undefined && driveOf(volume) === drive && hasClaim(volume, state);
}

/** Whether the claim that the volume was made for exists, bound or not. */
function hasClaim({ spec }: PersistentVolume, state: StoredObjects): boolean {
  const { namespace, name, uid } = spec?.claimRef ?? {};
  return (
    uid !== undefined && state.get(persistentVolumeClaims, `${namespace}/${name}`)?.metadata?.uid === uid
  );
}

function driveOf(volume: PersistentVolume | undefined): string | undefined {
  const csi = volume?.spec?.csi;
  return csi?.driver === drivesDriver ? csi.volumeAttributes?.[driveNameKey] : undefined;
}

function sizeOf(volume: PersistentVolume | undefined): number {
  return Number(bytesOf(volume?.spec?.capacity?.storage));
}

function capacityReportText(report: CSIStorageCapacity | undefined): string {
  return `${bytesOf(report?.capacity)} bytes, ${bytesOf(report?.maximumVolumeSize)} on one drive`;
}

function roomText(node: string, state: StoredObjects): string {
  const free = [...state.values(drives)]
    .filter((drive) => drive.spec?.nodeName === node && takesVolumes(drive))
    .map((drive) => Math.max(0, (drive.status?.capacityBytes ?? 0) - promisedBytes(drive)));
  return `${free.reduce((sum, bytes) => sum + bytes, 0)} bytes, ${Math.max(0, ...free)} on one drive`;
}
