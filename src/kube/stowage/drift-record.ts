import { parseTimestamp } from '../go/timestamp.ts';
import { parseQuantity } from '../quantities/quantity.ts';
import { isRecord } from '../wire.ts';

/**
 * How the reported capacity of a pool differs from the sum of its volumes. The publisher of the capacity writes it beside it: as the annotation
 * `stowage.dev/drift` of a CSIStorageCapacity, as the field `drift` of a pool in a DriverCapacity. Amounts are quantities.
 *
 *     {"baseline":{"measuredAt":"2026-11-16T10:00:00.250Z","free":"80Gi","ours":"20Gi","otherClasses":"0"},
 *      "last":{"measuredAt":"2026-11-16T10:05:00Z","free":"65Gi","ours":"25Gi","otherClasses":"0"},
 *      "kind":"foreign-use","difference":"-10Gi","since":"2026-11-16T10:05:00Z"}
 *
 * Without the record, the next report becomes the baseline. So an administrator accepts a drift by removing the record.
 */
export interface DriftRecord {
  /** The baseline that later reports are compared with. */
  readonly baseline: DriftCapacityReport;
  /** The latest report, to find out what changes until the next one. */
  readonly last: DriftCapacityReport;
  readonly kind: DriftKind;
  /** The reported free capacity less the expected one: negative if the driver reports less than expected. */
  readonly difference: string;
  /** When the first report with a difference of this sign, or with this kind, was measured; absent if the kind is `none`. */
  readonly since?: string;
  /** The differences in the driver's list of volumes; absent if the driver does not list them. */
  readonly listed?: DriftList;
}

/** The driver's list of its volumes (ListVolumes), compared with the PersistentVolumes. */
export interface DriftList {
  /** Volumes that no PersistentVolume has. */
  readonly foreign: DriftVolumes;
  /** Volumes that no PersistentVolume has any more: they have the name of one, or had one. */
  readonly leaked: DriftVolumes;
  /** PersistentVolumes whose volume the driver does not list. */
  readonly lost: DriftVolumes;
  /** Missing bytes that no volume in the list explains. */
  readonly shrunk: string;
}

export interface DriftVolumes {
  readonly count: number;
  /** The sum of the sizes, as far as the driver lists them. */
  readonly storage: string;
  /** The first of them, by id; for `lost` the names of PersistentVolumes. */
  readonly volumes: readonly { readonly id: string; readonly storage: string }[];
}

/** What a driver reported, and the volumes that Kubernetes knew at that time. */
export interface DriftCapacityReport {
  readonly measuredAt: string;
  readonly free: string;
  /** The sizes of the volumes of the pool's class. */
  readonly ours: string;
  /** The sizes of the driver's other volumes in the same topology segment. They may or may not be on the same disks. */
  readonly otherClasses: string;
  /** The sizes of the volumes that the driver listed and that had no PersistentVolume; absent if there was no list. */
  readonly foreign?: string;
  /** As `foreign`, for volumes that had a PersistentVolume once. */
  readonly leaked?: string;
  /** The sizes of the PersistentVolumes whose volumes the driver did not list. */
  readonly lost?: string;
}

/**
 * `none`: the volumes explain the reported capacity. `foreign-use`: less is free than expected. `leak`: less is free than expected, since a volume of
 * ours was deleted. `shrunk`: less is free than expected, and no volume in the driver's list explains it. `grown`: more is free than
 * expected. `lost`: the driver does not list the volume of a PersistentVolume.
 */
export type DriftKind = (typeof driftKinds)[number];

export const driftKinds = ['none', 'foreign-use', 'leak', 'shrunk', 'grown', 'lost'] as const;

/** Reads the annotation or the field. Undefined for anything else: the publisher then starts with a new baseline. */
export function parseDriftRecord(value: unknown): DriftRecord | undefined {
  const record = typeof value === 'string' ? parseJson(value) : value;
  if (!isRecord(record)) return undefined;
  const { baseline, last, kind, difference, since, listed } = record;
  if (!isCapacityReport(baseline) || !isCapacityReport(last) || !isAmount(difference) || !isKind(kind))
    return undefined;
  if (listed !== undefined && !isList(listed)) return undefined;
  const isSinceValid = kind === 'none' ? since === undefined : parseTimestamp(since) !== undefined;
  return isSinceValid ? (record as unknown as DriftRecord) : undefined;
}

export function formatDriftRecord(record: DriftRecord): string {
  return JSON.stringify(record);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isCapacityReport(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { measuredAt, free, ours, otherClasses, foreign = '0', leaked = '0', lost = '0' } = value;
  const amounts = [free, ours, otherClasses, foreign, leaked, lost];
  return parseTimestamp(measuredAt) !== undefined && amounts.every(isAmount);
}

function isList(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { foreign, leaked, lost, shrunk } = value;
  return [foreign, leaked, lost].every(isVolumes) && isAmount(shrunk);
}

function isVolumes(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { count, storage, volumes } = value;
  const isNamed = (one: unknown) => isRecord(one) && typeof one.id === 'string' && isAmount(one.storage);
  return typeof count === 'number' && isAmount(storage) && Array.isArray(volumes) && volumes.every(isNamed);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'string' && parseQuantity(value).ok;
}

function isKind(value: unknown): value is DriftKind {
  return driftKinds.some((kind) => kind === value);
}
