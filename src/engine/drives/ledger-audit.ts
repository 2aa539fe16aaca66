import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import {
  type Drive,
  type DriveUser,
  type DriveVolume,
  driveNameKey,
  drivesDriver,
} from '../../kube/stowage/drive.ts';
import { listOf, textOf } from '../../kube/wire.ts';

/** Volumes that a sentence names. */
const namedMax = 5;

/** The objects that are compared. The keys of the functions are `namespace/name`. */
export interface LedgerState {
  readonly drives: Iterable<Drive>;
  readonly volumes: Iterable<PersistentVolume>;
  readonly claimNamed: (key: string) => Pick<PersistentVolumeClaim, 'metadata'> | undefined;
  readonly podNamed: (key: string) => Pick<Pod, 'metadata'> | undefined;
}

/**
 * - `leak`: the ledger has an entry that nothing uses any more: its bytes are lost until a person removes it.
 * - `missing`: a PersistentVolume is on a drive whose ledger does not have it: its bytes are not counted.
 * - `stray`: a directory of the drive has no entry.
 */
export interface LedgerFinding {
  readonly kind: 'leak' | 'missing' | 'stray';
  /** Its name; of a missing entry the one that the PersistentVolume names, which may not exist. */
  readonly drive: string;
  readonly volume: string;
  /** Why, as the end of a sentence about the volume. */
  readonly reason: string;
}

/**
 * Compares ledgers with PersistentVolumes, claims and pods. An entry whose claim exists is being provisioned or used; one that is `Releasing`
 * waits for its node. A single comparison may see a change half done: report what is found twice.
 */
export function auditLedgers(state: LedgerState): readonly LedgerFinding[] {
  const volumes = new Map<string, PersistentVolume>();
  for (const volume of state.volumes)
    if (volume.spec?.csi?.driver === drivesDriver) volumes.set(textOf(volume.spec.csi.volumeHandle), volume);
  const drives = [...state.drives];
  const held = drivesByVolume(drives);
  const findings: LedgerFinding[] = [];
  for (const drive of drives)
    for (const entry of listOf(drive.spec?.volumes)) {
      const volume = volumes.get(entry.name);
      const name = textOf(drive.metadata?.name);
      const reason =
        entry.state === 'Releasing'
          ? undefined
          : volume === undefined
            ? unusedReason(entry, state)
            : secondReason(name, entry, volume, held.get(entry.name) ?? []);
      if (reason !== undefined) findings.push({ kind: 'leak', drive: name, volume: entry.name, reason });
    }
  for (const [handle, volume] of volumes)
    if (!held.has(handle)) findings.push(...missingEntry(handle, volume));
  return findings;
}

/** The names of the drives that have an entry of each volume. */
function drivesByVolume(drives: readonly Drive[]): ReadonlyMap<string, readonly string[]> {
  const held = new Map<string, string[]>();
  for (const { metadata, spec } of drives)
    for (const { name } of listOf(spec?.volumes))
      held.set(name, [...(held.get(name) ?? []), textOf(metadata?.name)]);
  return held;
}

/** Directories of a drive that its ledger does not have. They are listed before the ledger is read, so that no new one seems stray. */
export function orphanedDirectories(drive: Drive, directories: Iterable<string>): readonly LedgerFinding[] {
  const known = new Set(listOf(drive.spec?.volumes).map(({ name }) => name));
  return [...directories]
    .filter((name) => !known.has(name))
    .map((volume) => ({
      kind: 'stray',
      drive: textOf(drive.metadata?.name),
      volume,
      reason: 'has a directory and no entry in the ledger',
    }));
}

/** A message for users, without a full stop. */
export function ledgerFindingText({ volume, reason }: LedgerFinding): string {
  return `volume ${volume} ${reason}`;
}

/** The first ones as sentences, and how many more there are. */
export function ledgerFindingsText(findings: readonly LedgerFinding[]): string {
  const more = findings.length > namedMax ? `; and ${findings.length - namedMax} more` : '';
  return `${findings.slice(0, namedMax).map(ledgerFindingText).join('; ')}${more}`;
}

/**
 * Why an entry of a volume with a PersistentVolume is one too many. A PersistentVolume names the drive that the volume was made on; that never changes: after
 * `stowage drives move` the entry, alone, is on another one.
 */
function secondReason(
  drive: string,
  { name, sizeBytes }: DriveVolume,
  { spec }: PersistentVolume,
  holders: readonly string[],
): string | undefined {
  const named = spec?.csi?.volumeAttributes?.[driveNameKey];
  if (holders.length < 2 || named === undefined || named === drive) return undefined;
  const size = quantityOfBytes(sizeBytes);
  if (holders.includes(named)) return `takes ${size} here, and its PersistentVolume is on drive ${named}`;
  const others = holders.filter((other) => other !== drive).join(', ');
  return `takes ${size} here and on drive ${others}, and needs one of them; if a move was interrupted, call stowage drives move --volume ${name} again`;
}

/** Why an entry without a PersistentVolume is used by nothing. */
function unusedReason(
  { sizeBytes, claimRef, podRef }: DriveVolume,
  { claimNamed, podNamed }: LedgerState,
): string | undefined {
  const size = quantityOfBytes(sizeBytes);
  if (podRef !== undefined)
    return isThere(podRef, podNamed) ? undefined : `takes ${size}, and pod ${keyIn(podRef)} is gone`;
  if (claimRef === undefined) return `takes ${size}, and has neither a PersistentVolume nor a known claim`;
  if (isThere(claimRef, claimNamed)) return undefined;
  return `takes ${size}, and has no PersistentVolume; claim ${keyIn(claimRef)} is gone`;
}

/** A PersistentVolume that is being deleted loses its entry first. */
function missingEntry(volume: string, { metadata, spec }: PersistentVolume): readonly LedgerFinding[] {
  if (metadata?.deletionTimestamp !== undefined) return [];
  const drive = textOf(spec?.csi?.volumeAttributes?.[driveNameKey]);
  const reason = `has the PersistentVolume ${metadata?.name} and no entry in the ledger`;
  return [{ kind: 'missing', drive, volume, reason }];
}

/** Another object of the same name is not the one that the entry was made for. */
function isThere(user: DriveUser, named: (key: string) => KubeObject | undefined): boolean {
  const found = named(keyIn(user));
  return found !== undefined && (user.uid === undefined || found.metadata?.uid === user.uid);
}

function keyIn({ namespace, name }: DriveUser): string {
  return `${namespace}/${name}`;
}
