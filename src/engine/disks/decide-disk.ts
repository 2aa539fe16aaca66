import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskScheduleSpec, DiskScheduleStatus, DiskVerdict } from '../../kube/stowage/disk-schedule.ts';
import type { DiskState } from './disk-state.ts';

export type DiskUserKind = 'replicas' | 'backingImages';

export interface DiskPass {
  readonly spec: Pick<DiskScheduleSpec, DiskUserKind>;
  readonly status: Pick<DiskScheduleStatus, DiskUserKind>;
  readonly disk: DiskState;
  /** Whether the data of this user is on the disk already. */
  readonly hasData: (kind: DiskUserKind, name: string) => boolean;
  /** Bytes that this replica keeps even if it requests less; 0 if undefined. */
  readonly heldBytes?: (replica: string) => number;
  /** When the user was created; the oldest is served first. */
  readonly createdAt: (kind: DiskUserKind, name: string) => string;
}

export interface DiskDecision {
  readonly replicas: Readonly<Record<string, DiskVerdict>>;
  readonly backingImages: Readonly<Record<string, DiskVerdict>>;
  readonly storageScheduled: number;
  readonly storageLimit: number | undefined;
}

/** A request, and the verdict on it so far. */
interface Entry {
  readonly kind: DiskUserKind;
  readonly name: string;
  readonly asked: number;
  readonly granted: number;
  verdict: DiskVerdict | undefined;
}

const kinds: readonly DiskUserKind[] = ['replicas', 'backingImages'];

/** One pass over the requests for a disk; README.md has its steps and invariants. */
export function decideDisk(pass: DiskPass): DiskDecision {
  const entries = kinds.flatMap((kind) => entriesOf(pass, kind));
  if (pass.disk.kind === 'unknown' && pass.disk.isRemoved === true) return removed(entries);
  const waiting = entries.filter((entry) => !settleWithoutLimit(entry, pass));
  if (pass.disk.kind === 'ready') {
    let sum = sumOf(entries);
    for (const entry of inOrder(waiting, pass)) {
      entry.verdict = verdictOf(entry, pass.disk, sum - entry.granted);
      sum += grantedBy(entry) - entry.granted;
    }
  }
  return decisionOf(entries, pass.disk.kind === 'ready' ? pass.disk.limitBytes : undefined);
}

/** The disk was abandoned: all bytes that it had granted are lost, and the verdicts tell their owners. */
function removed(entries: readonly Entry[]): DiskDecision {
  for (const entry of entries)
    entry.verdict = {
      state: 'rejected',
      scheduledSize: 0,
      observedSize: entry.asked,
      reason: 'DiskRemoved',
    };
  return decisionOf(entries, undefined);
}

function decisionOf(entries: readonly Entry[], storageLimit: number | undefined): DiskDecision {
  return {
    replicas: verdictsOf(entries, 'replicas'),
    backingImages: verdictsOf(entries, 'backingImages'),
    storageScheduled: sumOf(entries),
    storageLimit,
  };
}

/** Verdicts without a request are left out here, which releases their bytes. */
function entriesOf({ spec, status }: DiskPass, kind: DiskUserKind): readonly Entry[] {
  return Object.entries(spec[kind] ?? {}).map(([name, asked]) => {
    const verdict = ownValue(status[kind], name);
    return { kind, name, asked, granted: verdict?.scheduledSize ?? 0, verdict };
  });
}

/** Requests that need no further bytes, and data that exists. True if the entry is settled. */
function settleWithoutLimit(entry: Entry, { hasData, heldBytes }: DiskPass): boolean {
  const { kind, name, asked, granted, verdict } = entry;
  if (granted > 0 && asked <= granted) {
    const held = kind === 'replicas' && asked < granted ? (heldBytes?.(name) ?? 0) : 0;
    const scheduledSize = Math.max(asked, Math.min(granted, held));
    entry.verdict = { ...scheduled(asked, verdict?.reason === 'Adopted'), scheduledSize };
    return true;
  }
  // A ready copy of an image has all of its bytes, also if fewer were expected; a replica that grows does not have its new ones yet.
  if ((granted === 0 || kind === 'backingImages') && hasData(kind, name)) {
    entry.verdict = scheduled(asked, true);
    return true;
  }
  return false;
}

function verdictOf(
  { asked, granted }: Entry,
  { limitBytes, closed }: Extract<DiskState, { kind: 'ready' }>,
  others: number,
): DiskVerdict {
  const rejected = { state: 'rejected', scheduledSize: granted, observedSize: asked } as const;
  if (granted === 0 && closed !== undefined) return { ...rejected, reason: closed.reason };
  if (others + asked > limitBytes) return { ...rejected, reason: 'InsufficientStorage' };
  return scheduled(asked, false);
}

function scheduled(size: number, isAdopted: boolean): DiskVerdict {
  const verdict = { state: 'scheduled', scheduledSize: size, observedSize: size } as const;
  return isAdopted ? { ...verdict, reason: 'Adopted' } : verdict;
}

/** Growth first: data that cannot grow is worse off than data that does not exist yet. */
function inOrder(entries: readonly Entry[], { createdAt }: DiskPass): readonly Entry[] {
  const keyed = entries.map((entry) => ({ entry, at: createdAt(entry.kind, entry.name) }));
  return keyed
    .sort(
      (a, b) =>
        Number(a.entry.granted === 0) - Number(b.entry.granted === 0) ||
        compare(a.at, b.at) ||
        compare(a.entry.name, b.entry.name) ||
        compare(a.entry.kind, b.entry.kind),
    )
    .map(({ entry }) => entry);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function grantedBy({ verdict }: Entry): number {
  return verdict?.scheduledSize ?? 0;
}

function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + grantedBy(entry), 0);
}

function verdictsOf(entries: readonly Entry[], wanted: DiskUserKind): Readonly<Record<string, DiskVerdict>> {
  return Object.fromEntries(
    entries.flatMap(({ kind, name, verdict }) =>
      kind === wanted && verdict !== undefined ? [[name, verdict]] : [],
    ),
  );
}
