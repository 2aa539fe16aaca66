import {
  type LedgerFinding,
  ledgerFindingsText,
  orphanedDirectories,
} from '../../engine/drives/ledger-audit.ts';
import type { Condition } from '../../kube/api/meta.ts';
import { getCondition, setCondition } from '../../kube/conditions.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import type { Drive } from '../../kube/stowage/drive.ts';

/** A directory without an entry for so long is not one whose entry is on its way, as while a volume is moved here. */
const strayMs = 30_000;

/** A condition of Drives that had a directory without an entry at least once. */
const directoriesMatch = 'DirectoriesMatch';

/**
 * Compares the directories of drives with their ledgers. It only reports directories without an entry: only a user can know whether the data is needed.
 * The observations are kept in memory: after a restart a stray directory is reported again after the same time.
 */
export class DirectoryComparison {
  /** When each stray directory was seen first, by drive. */
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** The directories were listed before this version of the drive was read, so that a new volume does not seem stray. */
  strays(drive: Drive, directories: Iterable<string>, nowMs: number): readonly LedgerFinding[] {
    const name = drive.metadata?.name ?? '';
    const before = this.#since.get(name);
    const found = orphanedDirectories(drive, directories);
    const since = new Map(found.map(({ volume }) => [volume, before?.get(volume) ?? nowMs]));
    this.#since.set(name, since);
    return found.filter(({ volume }) => nowMs - (since.get(volume) ?? nowMs) >= strayMs);
  }

  forget(drive: string): void {
    this.#since.delete(drive);
  }
}

/** The conditions of a drive with these stray directories. A drive that never had any has no condition about them. */
export function withStrays(
  conditions: readonly Condition[],
  strays: readonly LedgerFinding[],
  nowMs: number,
): readonly Condition[] {
  const isNew = getCondition(conditions, directoriesMatch) === undefined;
  if (strays.length === 0 && isNew) return conditions;
  const type = directoriesMatch;
  const next: Condition =
    strays.length === 0
      ? { type, status: 'True', reason: 'Matches', message: 'every directory has an entry in the ledger' }
      : { type, status: 'False', reason: 'OrphanedDirectories', message: ledgerFindingsText(strays) };
  return setCondition(conditions, next, formatTimestamp(nowMs));
}
