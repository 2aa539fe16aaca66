import { isDeepStrictEqual } from 'node:util';
import { promisedBytes } from '../../engine/drives/drive-record.ts';
import type { LedgerFinding } from '../../engine/drives/ledger-audit.ts';
import type { Condition } from '../../kube/api/meta.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { type DriveStatus, driveNodeKey } from '../../kube/stowage/drive.ts';
import { withStrays } from './directory-comparison.ts';
import { adviceAbout, type DriveObservation } from './drive-mounts.ts';
import type { NodeDrive } from './node-drives.ts';

/** Capacities are multiples of this, so that they do not change with every file. */
const capacityStepBytes = 16 * 2 ** 20;
/** The most that XFS needs for its own metadata. If it seems to need more, the filesystem has grown. */
const overheadShareMax = 0.05;
const overheadBytesMin = 64 * 2 ** 20;

/** The monitor checks a drive in one of these states, which users set, and leaves the state as it is. */
const statesOfPeople: ReadonlySet<string> = new Set(['Repairing', 'Removing']);

/** The report of the node: an observation, or that it has unmounted the drive because of its state, or cannot. */
export type DriveReport =
  | DriveObservation
  | { readonly kind: 'unmounted'; readonly reason: 'Repairing' | 'Removing' }
  | { readonly kind: 'inUse' };

export interface SeenDrive {
  readonly nowMs: number;
  /** Undefined if the directories could not be seen. */
  readonly strays: readonly LedgerFinding[] | undefined;
  /** The segments of the node; undefined if they are not known. */
  readonly topology: Readonly<Record<string, string>> | undefined;
}

/** The status of a drive after what was seen, with the version that it was decided on; undefined if it is so already. */
export function statusPatch(held: NodeDrive, report: DriveReport, seen: SeenDrive): Patch | undefined {
  const { drive, record } = held;
  const before = drive.status ?? {};
  const after = statusAfter(held, report, seen);
  const changed = (Object.keys(after) as (keyof DriveStatus)[]).filter(
    (key) => !isDeepStrictEqual(after[key] ?? undefined, before[key]),
  );
  if (changed.length === 0) return undefined;
  const metadata = { uid: record.uid, resourceVersion: record.version };
  const topology = { ...removedKeys(before.topology, after.topology), ...after.topology };
  return { type: 'merge', body: withPreconditions({ metadata }, { status: { ...after, topology } }) };
}

/** A merge patch removes a key by null. */
function removedKeys(before: DriveStatus['topology'] = {}, after: DriveStatus['topology'] = {}): object {
  const removed = Object.keys(before).filter((key) => after[key] === undefined);
  return Object.fromEntries(removed.map((key) => [key, null]));
}

/** Null removes a field. */
type StatusChange = Omit<DriveStatus, 'capacityBytes' | 'freeBytes'> & {
  readonly [Key in 'capacityBytes' | 'freeBytes']?: DriveStatus[Key] | null;
};

function statusAfter(
  { drive, record }: NodeDrive,
  report: DriveReport,
  { nowMs, strays, topology }: SeenDrive,
): StatusChange {
  const { generation } = drive.metadata ?? {};
  const observedGeneration = generation === undefined ? undefined : Number(generation);
  const condition = conditionOf(record.name, report);
  const mounted = withCondition(drive.status?.conditions ?? [], {
    ...condition,
    ...(observedGeneration !== undefined && { observedGeneration }),
    lastTransitionTime: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
  });
  const capacityBytes =
    report.kind === 'mounted' ? capacityOf(drive.status, report) : drive.status?.capacityBytes;
  return {
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(capacityBytes !== undefined && { capacityBytes, freeBytes: capacityBytes - promisedBytes(record) }),
    // The bytes of the filesystem are those of its owner.
    ...(isDuplicate(report) && { capacityBytes: null, freeBytes: null }),
    state: stateOf(drive.status?.state, report),
    topology: topology ?? { ...drive.status?.topology, [driveNodeKey]: record.nodeName },
    ...(report.kind === 'mounted' && { device: deviceOf(report) }),
    conditions: strays === undefined ? mounted : withStrays(mounted, strays, nowMs),
  };
}

/**
 * Measured while the drive is empty, when what XFS keeps for itself is all that is missing. With volumes on it, their data cannot be
 * distinguished from that, and the figure stays, unless the filesystem has grown since.
 */
function capacityOf(
  status: DriveStatus | undefined,
  { usage, isEmpty }: Extract<DriveObservation, { kind: 'mounted' }>,
): number {
  const { totalBytes, availableBytes } = usage;
  if (isEmpty) return wholeSteps(availableBytes);
  const known = status?.capacityBytes;
  const overheadMax = overheadBytesMin + totalBytes * overheadShareMax;
  if (known !== undefined && known <= totalBytes && totalBytes - known <= overheadMax) return known;
  return wholeSteps(totalBytes - totalBytes * overheadShareMax);
}

function isDuplicate(report: DriveReport): boolean {
  return report.kind === 'failed' && report.reason === 'DuplicateFilesystem';
}

function wholeSteps(bytes: number): number {
  return Math.floor(bytes / capacityStepBytes) * capacityStepBytes;
}

function stateOf(before: string | undefined, report: DriveReport): string {
  if (before !== undefined && statesOfPeople.has(before)) return before;
  if (report.kind === 'mounted') return 'Ready';
  return report.kind === 'lost' ? 'Lost' : 'Error';
}

function deviceOf({ device }: Extract<DriveObservation, { kind: 'mounted' }>) {
  return { path: device.path, ...(device.make !== undefined && { make: device.make }) };
}

function conditionOf(drive: string, report: DriveReport): Pick<Condition, 'status' | 'reason' | 'message'> {
  switch (report.kind) {
    case 'mounted':
      return { status: 'True', reason: 'Mounted', message: `The filesystem is mounted at ${report.path}` };
    case 'lost':
      return { status: 'False', reason: 'DeviceLost', message: adviceAbout(drive, report) };
    case 'failed':
      return { status: 'False', reason: report.reason, message: adviceAbout(drive, report) };
    case 'unmounted':
      return { status: 'False', reason: report.reason, message: 'The filesystem is not mounted' };
    case 'inUse':
      return { status: 'True', reason: 'InUse', message: 'Volumes are in use; move their pods away' };
  }
}

/** The time of a condition is when its status changed. */
function withCondition(before: readonly Condition[], condition: Condition): readonly Condition[] {
  const known = before.find(({ type }) => type === 'Mounted');
  const since = known?.status === condition.status ? known?.lastTransitionTime : undefined;
  const mounted = {
    type: 'Mounted',
    ...condition,
    ...(since !== undefined && { lastTransitionTime: since }),
  };
  return known === undefined
    ? [...before, mounted]
    : before.map((one) => (one.type === 'Mounted' ? mounted : one));
}
