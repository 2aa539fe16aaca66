import { promisedBytes, readDrive } from '../../engine/drives/drive-record.ts';
import { driveStateOf } from '../../engine/drives/drive-state.ts';
import { duplicateDrives } from '../../engine/drives/shared-filesystems.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { DriveObjects } from './drive-objects.ts';
import type { DriveLine, DriveNodeLine } from './drives-report.ts';

/** Conditions that compare the ledger with volumes and with directories. */
const comparisons: readonly (string | undefined)[] = ['LedgerMatches', 'DirectoriesMatch'];

/** One line for each drive, by node and name. */
export function driveLines(objects: DriveObjects): readonly DriveLine[] {
  const { drives, claims } = objects;
  const promised = claims && promisesByDrive(drives, claims);
  const duplicates = duplicateDrives(drives.map(readDrive));
  const states = driveStates(objects);
  const lines = drives.map((drive) => {
    const line = driveLine(drive, states.get(drive)!, promised);
    const owner = duplicates.get(line.drive);
    return owner === undefined ? line : duplicateLine(line, owner);
  });
  return lines.toSorted((a, b) => compare(a.node, b.node) || compare(a.drive, b.drive));
}

/** The state of each drive, with what the Nodes and the other Drives say. */
export function driveStates({
  drives,
  nodes,
}: Pick<DriveObjects, 'drives' | 'nodes'>): ReadonlyMap<Drive, string> {
  const duplicates = duplicateDrives(drives.map(readDrive));
  const names = nodes && new Set(nodes.map(({ metadata }) => textOf(metadata?.name)));
  return new Map(
    drives.map((drive) => {
      const { name, nodeName } = readDrive(drive);
      const hasNode = names?.has(nodeName) ?? true;
      return [drive, driveStateOf(drive, { isDuplicate: duplicates.has(name), hasNode })];
    }),
  );
}

/** The sums of each node. A drive without a known capacity adds none. */
export function driveNodeLines(lines: readonly DriveLine[]): readonly DriveNodeLine[] {
  const nodes = [...new Set(lines.map(({ node }) => node))];
  return nodes.map((node) => {
    const own = lines.filter((line) => line.node === node);
    const sum = (bytes: (line: DriveLine) => number) => own.reduce((all, line) => all + bytes(line), 0);
    return {
      node,
      driveCount: own.length,
      states: countsOf(own.map(stateText)),
      readyCount: own.filter(({ state, isCordoned }) => state === 'Ready' && !isCordoned).length,
      volumeCount: sum(({ volumeCount }) => volumeCount),
      capacityBytes: sum(({ capacityBytes = 0 }) => capacityBytes),
      usedBytes: sum(({ usedBytes }) => usedBytes),
      promisedBytes: own.every((line) => line.promisedBytes !== undefined)
        ? sum((line) => line.promisedBytes ?? 0)
        : undefined,
      freeBytes: sum(({ freeBytes = 0 }) => freeBytes),
    };
  });
}

/** A state, as tables show it: that of the drive, and whether it is cordoned. */
export function stateText({ state, isCordoned }: Pick<DriveLine, 'state' | 'isCordoned'>): string {
  return isCordoned ? `${state},SchedulingDisabled` : state;
}

function countsOf(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts.toSorted()) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

function driveLine(
  drive: Drive,
  state: string,
  promised: ReadonlyMap<string, number> | undefined,
): DriveLine {
  const record = readDrive(drive);
  const { metadata, spec, status } = drive;
  const usedBytes = promisedBytes(record);
  const promisedHere = promised && (promised.get(record.name) ?? 0);
  const capacityBytes = status?.capacityBytes;
  return {
    drive: record.name,
    node: record.nodeName,
    tier: record.tier,
    state,
    isCordoned: spec?.unschedulable === true,
    device: status?.device?.path,
    make: status?.device?.make,
    filesystemUUID: textOf(spec?.filesystemUUID),
    labels: record.labels,
    capacityBytes,
    usedBytes,
    promisedBytes: promisedHere,
    freeBytes: capacityBytes === undefined ? undefined : capacityBytes - usedBytes - (promisedHere ?? 0),
    volumeCount: record.volumes.length,
    createdAt: metadata?.creationTimestamp ?? undefined,
    findings: findingsOf(drive),
  };
}

/** The bytes of its filesystem count once, with the Drive that it belongs to. */
function duplicateLine(line: DriveLine, owner: string): DriveLine {
  const message = `drive ${owner}, which is older, has the same filesystem`;
  return {
    ...line,
    capacityBytes: undefined,
    freeBytes: undefined,
    findings: [...(line.findings ?? []), { reason: 'DuplicateFilesystem', message }],
  };
}

function findingsOf({ status }: Drive): DriveLine['findings'] {
  const found = listOf(status?.conditions).filter(
    ({ type, status: isTrue }) => comparisons.includes(type) && isTrue === 'False',
  );
  if (found.length === 0) return undefined;
  return found.map(({ reason, message }) => ({ reason: textOf(reason), message: textOf(message) }));
}

/** The scheduler writes the drive on the claim; the bytes are promised until the ledger has the volume. */
function promisesByDrive(
  drives: readonly Drive[],
  claims: readonly PersistentVolumeClaim[],
): ReadonlyMap<string, number> {
  const inLedger = new Set(
    drives.flatMap(({ spec }) => (spec?.volumes ?? []).flatMap(({ claimRef }) => claimRef?.uid ?? [])),
  );
  const sums = new Map<string, number>();
  for (const { metadata, spec } of claims) {
    const drive = metadata?.annotations?.[annotations.drive];
    if (drive === undefined || textOf(spec?.volumeName) !== '' || inLedger.has(metadata?.uid ?? '')) continue;
    const bytes = Number(bytesOf(spec?.resources?.requests?.storage ?? '0'));
    sums.set(drive, (sums.get(drive) ?? 0) + bytes);
  }
  return sums;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
