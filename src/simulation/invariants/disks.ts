import { getCondition } from '../../kube/conditions.ts';
import { isEqualWhenStored } from '../../kube/deep-equal.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { qualifiedPlural } from '../../kube/resource.ts';
import { type BackingImage, backingImages } from '../../kube/stowage/backing-image.ts';
import { type DiskSchedule, type DiskVerdict, diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { hasReplicaData, type Replica, replicas } from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { type DiskVolume, diskVolumes } from '../../kube/stowage/volume.ts';
import type { Invariant, StoredVersion } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

type UserKind = 'replicas' | 'backingImages';
const userKinds: readonly UserKind[] = ['replicas', 'backingImages'];

/** A request and its verdict, in one version of a schedule. */
interface Entry {
  readonly kind: UserKind;
  readonly name: string;
  readonly asked: number | undefined;
  readonly verdict: DiskVerdict | undefined;
  readonly grantedBytes: number;
}

/** Grants stay within the limit; data that was there before is adopted, whether it fits or not. */
const grantsFitTheirDisk = onDecision('what a disk grants fits within its limit', ({ after, before }) => {
  const grown = entriesOf(after).find(
    ({ kind, name, verdict, grantedBytes }) =>
      grantedBytes > entryOf(before, kind, name).grantedBytes && verdict?.reason !== 'Adopted',
  );
  const { storageScheduled = 0, storageLimit } = after.status ?? {};
  if (grown === undefined || (storageLimit !== undefined && storageScheduled <= storageLimit))
    return undefined;
  return `${grown.kind}/${grown.name} was granted ${grown.grantedBytes}: ${storageScheduled} bytes of ${storageLimit}`;
});

const sumsAreExact = onDecision('the sum of a disk is the sum of its entries', ({ after }) => {
  const sum = entriesOf(after).reduce((total, { grantedBytes }) => total + grantedBytes, 0);
  const { storageScheduled = 0 } = after.status ?? {};
  return sum === storageScheduled && Number.isSafeInteger(sum)
    ? undefined
    : `${storageScheduled}, not ${sum}`;
});

const verdictsAnswerRequests = onDecision('a verdict answers a request', ({ after }) => {
  const unasked = entriesOf(after).find(({ asked }) => asked === undefined);
  return unasked === undefined ? undefined : `${unasked.kind}/${unasked.name} has a verdict and no request`;
});

/** On a disk that answers, one pass decides everything. */
const decisionsAreComplete = onDecision('a pass answers every request', ({ after, before }) => {
  if (getCondition(after.status?.conditions, 'Ready')?.status !== 'True') return undefined;
  for (const { kind, name, asked = 0, verdict, grantedBytes } of requestsOf(after)) {
    if (verdict?.observedSize !== asked) return `${kind}/${name} has no verdict on ${asked} bytes`;
    const had = entryOf(before, kind, name).grantedBytes;
    // More than it asks for is what it had, and its volume holds.
    if (verdict.state === 'scheduled' && (grantedBytes < asked || grantedBytes > Math.max(asked, had)))
      return `${kind}/${name} is scheduled with ${grantedBytes} of ${asked} bytes`;
    if (verdict.state === 'rejected' && (grantedBytes >= asked || grantedBytes !== had))
      return `${kind}/${name} is rejected with ${grantedBytes} of ${asked} bytes, and had ${had}`;
  }
  return undefined;
});

/** Only owners release bytes, unless the disk is abandoned. */
const grantsAreNotRevoked = onDecision('no grant is revoked', ({ after, before }) => {
  if (before === undefined) return undefined;
  const revoked = entriesOf(before).find(({ kind, name, grantedBytes }) => {
    const now = entryOf(after, kind, name);
    if (now.grantedBytes >= grantedBytes || now.verdict?.reason === 'DiskRemoved') return false;
    return now.asked !== undefined && now.asked > now.grantedBytes;
  });
  return revoked === undefined ? undefined : `${revoked.kind}/${revoked.name} lost bytes that it asks for`;
});

const scheduleWritesChangeSomething: Invariant = {
  name: 'every write of a DiskSchedule changes it',
  onVersion: (version) => {
    const { key, before, after } = scheduleVersion(version) ?? {};
    if (before === undefined || after === undefined) return undefined;
    const contents = ({ metadata, spec, status }: DiskSchedule) => {
      const { finalizers, annotations, labels, deletionTimestamp } = metadata ?? {};
      return { finalizers, annotations, labels, deletionTimestamp, spec, status };
    };
    return isEqualWhenStored(contents(before), contents(after))
      ? `${key} was written and is as before`
      : undefined;
  },
};

const adoptedDataExists: Invariant = {
  name: 'a disk grants more than it has only for data that is there',
  onVersion: (version, state) => {
    const { key = '', before, after } = scheduleVersion(version) ?? {};
    const adopted = after === undefined ? [] : requestsOf(after);
    const wrong = adopted.find(
      ({ kind, name, grantedBytes, verdict }) =>
        verdict?.reason === 'Adopted' &&
        grantedBytes > entryOf(before, kind, name).grantedBytes &&
        !hasDataOn(state, kind, name, key),
    );
    return wrong === undefined
      ? undefined
      : `disk ${key} adopts ${wrong.kind}/${wrong.name}, which has no data there`;
  },
};

/** An agent that makes a copy without a grant uses bytes that others were promised. Agents of other programs may make it larger than was expected. */
const copiesHaveTheirBytes: Invariant = {
  name: 'a copy of an image is made only where its disk has granted bytes',
  onVersion: (version, state) => {
    if (version.resource !== qualifiedPlural(backingImages)) return undefined;
    const { before, after } = version as StoredVersion<BackingImage>;
    const isReady = (image: BackingImage | undefined, uuid: string) =>
      ownValue(image?.status?.diskFileStatusMap, uuid)?.state === 'ready';
    const lacking = Object.keys(after?.status?.diskFileStatusMap ?? {}).find((uuid) => {
      if (!isReady(after, uuid) || isReady(before, uuid)) return false;
      const schedule = state.get(diskSchedules, uuid);
      const { grantedBytes } = entryOf(schedule, 'backingImages', version.key);
      return schedule !== undefined && grantedBytes === 0;
    });
    return lacking === undefined ? undefined : `${version.key} has a copy on disk ${lacking} without a grant`;
  },
};

const schedulesInUseStay: Invariant = {
  name: 'a DiskSchedule with entries is not removed',
  onVersion: (version) => {
    const { key, before, after } = scheduleVersion(version) ?? {};
    if (before === undefined || after !== undefined) return undefined;
    const [entry] = entriesOf(before);
    return entry === undefined ? undefined : `${key} is removed with ${entry.kind}/${entry.name}`;
  },
};

const startedReplicasHaveTheirBytes: Invariant = {
  name: 'a replica is started only with its bytes',
  onVersion: (version, state) => {
    const { key, before, after } = replicaVersion(version) ?? {};
    if (after?.spec?.desiredState !== 'running' || before?.spec?.desiredState === 'running') return undefined;
    return hasBytes(state, after, after.spec.volumeSize ?? 0)
      ? undefined
      : `${key} is started without its bytes`;
  },
};

const replicasGrowTogether: Invariant = {
  name: 'a replica grows when all replicas of its volume have the bytes',
  onVersion: (version, state) => {
    const { key, before, after } = replicaVersion(version) ?? {};
    const size = after?.spec?.volumeSize ?? 0;
    if (before === undefined || after === undefined || size <= (before.spec?.volumeSize ?? 0))
      return undefined;
    const lacking = runningReplicas(state, after.spec?.volumeName).find(
      (replica) => !hasBytes(state, replica, size),
    );
    return lacking === undefined
      ? undefined
      : `${key} grows to ${size} bytes, which ${lacking.metadata?.name} has not been granted`;
  },
};

const commitsAreGranted: Invariant = {
  name: 'an expansion is committed when all replicas have the bytes, and then not withdrawn',
  onVersion: (version, state) => {
    if (version.resource !== qualifiedPlural(diskVolumes)) return undefined;
    const { before, after } = version as StoredVersion<DiskVolume>;
    const [was, is] = [before?.status?.expansion, after?.status?.expansion];
    if (was?.state === 'Committed' && is?.state === 'Withdrawn' && is.size <= was.size)
      return `${version.key} withdraws its expansion to ${is.size} bytes, which it has committed`;
    if (is?.state !== 'Committed' || was?.state === 'Committed') return undefined;
    const lacking = runningReplicas(state, version.key).find((replica) => !hasBytes(state, replica, is.size));
    return lacking === undefined
      ? undefined
      : `${version.key} commits ${is.size} bytes, which ${lacking.metadata?.name} has not been granted`;
  },
};

const committedBytesAreKept: Invariant = {
  name: 'a disk releases no bytes that a volume has committed',
  onVersion: (version, state) => {
    const { key, before, after } = scheduleVersion(version) ?? {};
    if (before === undefined || after === undefined) return undefined;
    const lost = requestsOf(after).find(({ kind, name, grantedBytes, verdict }) => {
      if (kind !== 'replicas' || grantedBytes >= entryOf(before, kind, name).grantedBytes) return false;
      const { metadata, spec } = state.get(replicas, name) ?? {};
      if (spec?.diskID !== key || metadata?.deletionTimestamp !== undefined) return false;
      const { size = 0, expansion } = state.get(diskVolumes, spec?.volumeName ?? '')?.status ?? {};
      const committed = Math.max(size, expansion?.state === 'Committed' ? expansion.size : 0);
      return grantedBytes < committed && verdict?.reason !== 'DiskRemoved';
    });
    return lost === undefined
      ? undefined
      : `disk ${key} leaves replica ${lost.name} ${lost.grantedBytes} bytes`;
  },
};

const volumeSizesAreReal: Invariant = {
  name: 'the size of a volume is that of all of its replicas',
  onVersion: (version, state) => {
    if (version.resource !== qualifiedPlural(diskVolumes)) return undefined;
    const { before, after } = version as StoredVersion<DiskVolume>;
    const size = after?.status?.size ?? 0;
    if (size <= (before?.status?.size ?? 0)) return undefined;
    const small = runningReplicas(state, version.key).find(({ spec }) => (spec?.volumeSize ?? 0) < size);
    return small === undefined
      ? undefined
      : `${version.key} has ${size} bytes, and ${small.metadata?.name} less`;
  },
};

/** At rest: no request waits on a disk that answers, a refused expansion has left nothing behind, and every request has an owner. */
export const disksAreAtRest: Invariant = {
  name: 'disks have answered, refused expansions are withdrawn, and requests have owners',
  atRest: (state) => unrestedDisks(state),
};

/**
 * What is wrong with disks at rest. Whether requests have owners can't be checked earlier: one that is on its way while its replica goes is stored
 * after the release, and collected later.
 */
export function unrestedDisks(state: StoredObjects): readonly string[] {
  return [
    ...[...state.values(diskSchedules)].flatMap((schedule) =>
      getCondition(schedule.status?.conditions, 'Ready')?.status === 'True'
        ? requestsOf(schedule)
            .filter(
              ({ asked = 0, verdict, grantedBytes }) =>
                verdict?.observedSize !== asked || grantedBytes > asked,
            )
            .map(({ kind, name }) => `${schedule.metadata?.name} has not answered ${kind}/${name}`)
        : [],
    ),
    ...[...state.values(diskVolumes)].flatMap((volume) => refusedLeftovers(volume, state)),
    ...[...state.values(diskSchedules)].flatMap((schedule) =>
      Object.keys(schedule.spec?.replicas ?? {}).flatMap((name) =>
        state.get(replicas, name)?.spec?.diskID === schedule.metadata?.name
          ? []
          : [`${schedule.metadata?.name} has the request of ${name}, which is not on that disk`],
      ),
    ),
    ...[...state.values(diskSchedules)].flatMap((schedule) =>
      Object.keys(schedule.spec?.backingImages ?? {}).flatMap((name) =>
        hasCopy(state.get(backingImages, name), schedule.metadata?.name ?? '')
          ? []
          : [`${schedule.metadata?.name} has the request of image ${name}, which has no copy on that disk`],
      ),
    ),
  ];
}

function hasDataOn(state: StoredObjects, kind: UserKind, name: string, uuid: string): boolean {
  if (kind === 'backingImages')
    return ownValue(state.get(backingImages, name)?.status?.diskFileStatusMap, uuid)?.state === 'ready';
  const replica = state.get(replicas, name);
  return replica?.spec?.diskID === uuid && hasReplicaData(replica);
}

/** Wanted there, or not gone completely. */
function hasCopy(image: BackingImage | undefined, uuid: string): boolean {
  const isWanted = ownValue(image?.spec?.diskFileSpecMap, uuid) !== undefined;
  return isWanted || ownValue(image?.status?.diskFileStatusMap, uuid) !== undefined;
}

function refusedLeftovers({ metadata, status }: DiskVolume, state: StoredObjects): readonly string[] {
  if (getCondition(status?.conditions, 'DiskAllocation')?.reason !== 'ExpansionRejected') return [];
  return runningReplicas(state, metadata?.name)
    .filter(({ metadata: { name = '' } = {}, spec }) => {
      const schedule = state.get(diskSchedules, spec?.diskID ?? '');
      return ownValue(schedule?.spec?.replicas, name) !== status?.size;
    })
    .map((replica) => `${replica.metadata?.name} still requests an expansion that was refused`);
}

/** Invariants of every stored version of disks, whatever runs. */
export const diskInvariants: readonly Invariant[] = [
  grantsFitTheirDisk,
  sumsAreExact,
  verdictsAnswerRequests,
  decisionsAreComplete,
  grantsAreNotRevoked,
  scheduleWritesChangeSomething,
  adoptedDataExists,
  schedulesInUseStay,
  copiesHaveTheirBytes,
  startedReplicasHaveTheirBytes,
  replicasGrowTogether,
  commitsAreGranted,
  committedBytesAreKept,
  volumeSizesAreReal,
];

interface Decision {
  readonly before: DiskSchedule | undefined;
  readonly after: DiskSchedule;
}

/** Checked whenever the status of a DiskSchedule changes: it then answers the spec of the same version. */
function onDecision(name: string, check: (decision: Decision) => string | undefined): Invariant {
  return {
    name,
    onVersion: (version) => {
      const { key, before, after } = scheduleVersion(version) ?? {};
      if (after === undefined || isEqualWhenStored(before?.status, after.status)) return undefined;
      const detail = check({ before, after });
      return detail === undefined ? undefined : `disk ${key}: ${detail}`;
    },
  };
}

function scheduleVersion(version: StoredVersion): StoredVersion<DiskSchedule> | undefined {
  return version.resource === qualifiedPlural(diskSchedules)
    ? (version as StoredVersion<DiskSchedule>)
    : undefined;
}

function replicaVersion(version: StoredVersion): StoredVersion<Replica> | undefined {
  return version.resource === qualifiedPlural(replicas) ? (version as StoredVersion<Replica>) : undefined;
}

function entryOf(schedule: DiskSchedule | undefined, kind: UserKind, name: string): Entry {
  const verdict = ownValue(schedule?.status?.[kind], name);
  const asked = ownValue(schedule?.spec?.[kind], name);
  return { kind, name, asked, verdict, grantedBytes: verdict?.scheduledSize ?? 0 };
}

/** All entries of the status. */
function entriesOf(schedule: DiskSchedule): readonly Entry[] {
  return userKinds.flatMap((kind) =>
    Object.keys(schedule.status?.[kind] ?? {}).map((name) => entryOf(schedule, kind, name)),
  );
}

/** All entries of the spec. */
function requestsOf(schedule: DiskSchedule): readonly Entry[] {
  return userKinds.flatMap((kind) =>
    Object.keys(schedule.spec?.[kind] ?? {}).map((name) => entryOf(schedule, kind, name)),
  );
}

/** Without those of a deleted volume of the same name. */
function runningReplicas(state: StoredObjects, name: string | undefined): readonly Replica[] {
  const volume = state.get(diskVolumes, name ?? '');
  return [...state.values(replicas)].filter((replica) => {
    const { metadata, spec, status } = replica;
    const isRunning = spec?.desiredState === 'running' && status?.failedAt === undefined;
    const isOwn = spec?.volumeName === name && (volume === undefined || belongsTo(replica, volume));
    return isOwn && isRunning && metadata?.deletionTimestamp === undefined;
  });
}

/** Whether the disk of the replica has granted so many bytes, or was abandoned meanwhile. */
function hasBytes(state: StoredObjects, { metadata, spec }: Replica, bytes: number): boolean {
  const schedule = state.get(diskSchedules, spec?.diskID ?? '');
  const { verdict, grantedBytes } = entryOf(schedule, 'replicas', metadata?.name ?? '');
  return grantedBytes >= bytes || verdict?.reason === 'DiskRemoved';
}
