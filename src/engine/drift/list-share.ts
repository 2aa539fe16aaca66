import { bytesOf, quantityOfBytes } from '../../kube/quantities/bytes.ts';
import type {
  DriftCapacityReport,
  DriftKind,
  DriftList,
  DriftVolumes,
} from '../../kube/stowage/drift-record.ts';

/** The differences between the driver's list of volumes and the PersistentVolumes of one segment. */
export interface ListFindings {
  readonly foreign: readonly FoundVolume[];
  readonly leaked: readonly FoundVolume[];
  /** PersistentVolumes that the driver does not list, by name. */
  readonly lost: readonly FoundVolume[];
  /** Whether the list has all that the capacity report counts: it is not older than the report, and tells sizes and segments of foreign volumes. */
  readonly isComplete: boolean;
}

export interface FoundVolume {
  readonly id: string;
  readonly bytes: bigint;
}

/** So many volumes are named in a record, which has to stay small. */
const namedMax = 5;
const idLengthMax = 256;

/** The report with the sums of the list. Without a list now, those of the last report hold. */
export function withList(
  report: DriftCapacityReport,
  last: DriftCapacityReport | undefined,
  listed: ListFindings | undefined,
): DriftCapacityReport {
  if (listed !== undefined) {
    const { foreign, leaked, lost } = listed;
    const sum = (volumes: readonly FoundVolume[]) => quantityOfBytes(bytesIn(volumes));
    return { ...report, foreign: sum(foreign), leaked: sum(leaked), lost: sum(lost) };
  }
  if (last?.foreign === undefined) return report;
  return { ...report, foreign: last.foreign, leaked: last.leaked ?? '0', lost: last.lost ?? '0' };
}

export interface ListShare {
  readonly list: DriftList;
  /** The cause that follows from the list; undefined if the list alone does not tell. */
  readonly kind: DriftKind | undefined;
}

interface ListShareInput {
  readonly baseline: DriftCapacityReport;
  readonly last: DriftCapacityReport;
  readonly difference: bigint;
  readonly listed: ListFindings | undefined;
  /** The value of the last record; it holds while there is no newer list. */
  readonly before: DriftList | undefined;
}

/**
 * Divides a difference: foreign volumes and leaks that appeared since the baseline explain a part, and the rest is a pool that has shrunk.
 * A lost volume should have made its bytes free, so what is not free of them is missing too.
 */
export function listedShare(input: ListShareInput): ListShare | undefined {
  const { baseline, last, difference, listed, before } = input;
  if (listed === undefined && before === undefined) return undefined;
  const foreign = grown(baseline.foreign, last.foreign);
  const leaked = grown(baseline.leaked, last.leaked);
  const lost = grown(baseline.lost, last.lost);
  const isComplete = listed?.isComplete ?? false;
  const rest = lost - difference - foreign - leaked;
  // An older list does not end a known shrinkage.
  const known = bytesOf(before?.shrunk);
  const provable = isComplete || rest < known ? rest : known;
  const shrunk = provable > toleratedOf(last) ? provable : 0n;
  const isLost = (listed?.lost.length ?? before?.lost.count ?? 0) > 0;
  const list = {
    foreign: listed === undefined ? before!.foreign : summaryOf(listed.foreign),
    leaked: listed === undefined ? before!.leaked : summaryOf(listed.leaked),
    lost: listed === undefined ? before!.lost : summaryOf(listed.lost),
    shrunk: quantityOfBytes(shrunk),
  };
  if (isLost) return { list, kind: 'lost' };
  const shares = { shrunk, leak: leaked, 'foreign-use': foreign } as const;
  return { list, kind: largest(shares, toleratedOf(last), { difference, isComplete }) };
}

/** A difference of a thousandth of the pool is not drift, as for reports. */
function toleratedOf({ free, ours, otherClasses }: DriftCapacityReport): bigint {
  return (bytesOf(free) + bytesOf(ours) + bytesOf(otherClasses)) / 1000n;
}

/** Volumes that were there at the baseline are accepted. Without a list at the baseline, all of them may be new. */
function grown(baseline = '0', last = '0'): bigint {
  const more = bytesOf(last) - bytesOf(baseline);
  return more > 0n ? more : 0n;
}

type Share = 'shrunk' | 'leak' | 'foreign-use';

function largest(
  shares: Readonly<Record<Share, bigint>>,
  tolerated: bigint,
  { difference, isComplete }: { readonly difference: bigint; readonly isComplete: boolean },
): DriftKind | undefined {
  if (difference > 0n) return undefined;
  // A foreign volume may be on the disks of another class. A leak is a mistake wherever it is.
  if (difference === 0n) return shares.leak > tolerated ? 'leak' : undefined;
  const missing = -difference;
  // An unexplained difference may be a volume that an incomplete list does not contain.
  const explained = shares.leak + shares['foreign-use'] + shares.shrunk;
  if (!isComplete && missing > explained + tolerated) return undefined;
  const kinds = (['leak', 'foreign-use', 'shrunk'] as const).filter((kind) => shares[kind] > tolerated);
  return kinds.sort((a, b) => (shares[a] > shares[b] ? -1 : shares[a] < shares[b] ? 1 : 0))[0];
}

function summaryOf(volumes: readonly FoundVolume[]): DriftVolumes {
  const sorted = [...volumes].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    count: volumes.length,
    storage: quantityOfBytes(bytesIn(volumes)),
    volumes: sorted
      .slice(0, namedMax)
      .map(({ id, bytes }) => ({ id: id.slice(0, idLengthMax), storage: quantityOfBytes(bytes) })),
  };
}

function bytesIn(volumes: readonly FoundVolume[]): bigint {
  return volumes.reduce((sum, { bytes }) => sum + bytes, 0n);
}
