import { type DriveKind, isOfKind } from '../../drives/drive-ask.ts';
import type { PoolRecord } from '../../records/pool-record.ts';

/** Drives by the kind that a class asks for: its access tier and labels. Lists are computed when they are asked for, until a drive comes, goes or changes its kind. */
export class DriveEntries<Row extends number> {
  readonly #drives = new Map<string, { readonly row: Row; readonly record: PoolRecord }>();
  readonly #rowsOfKind = new Map<string, readonly Row[]>();
  /** The drive that has the volume of a claim in its ledger, by the uid of the claim. */
  readonly #byClaim = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#drives.size === 0;
  }

  add(row: Row, record: PoolRecord): void {
    this.#drives.set(record.key, { row, record });
    this.#rowsOfKind.clear();
    this.#addClaims(record);
  }

  delete(record: PoolRecord): void {
    this.#drives.delete(record.key);
    this.#rowsOfKind.clear();
    this.#removeClaims(record);
  }

  /** The same drive with other figures. */
  replace(before: PoolRecord, after: PoolRecord): void {
    this.#removeClaims(before);
    this.#addClaims(after);
  }

  /** The key of the pool that the volume of the claim is in. */
  poolOfClaim(claimUid: string): string | undefined {
    return this.#byClaim.get(claimUid);
  }

  /** Sorted by the keys of the pools. */
  rowsOf(kind: DriveKind, kindKey: string): readonly Row[] {
    let rows = this.#rowsOfKind.get(kindKey);
    if (rows === undefined) {
      rows = [...this.#drives.values()]
        .filter(({ record }) => isOfKind(record.drive!, kind))
        .sort((a, b) => (a.record.key < b.record.key ? -1 : 1))
        .map(({ row }) => row);
      this.#rowsOfKind.set(kindKey, rows);
    }
    return rows;
  }

  #addClaims({ key, drive }: PoolRecord): void {
    for (const uid of drive!.claims.keys()) this.#byClaim.set(uid, key);
  }

  #removeClaims({ key, drive }: PoolRecord): void {
    for (const uid of drive!.claims.keys()) if (this.#byClaim.get(uid) === key) this.#byClaim.delete(uid);
  }
}

/** Equal for classes that ask for the same. */
export function driveKindKey({ tier = '', labels }: DriveKind): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `drives ${tier} ${JSON.stringify(pairs)}`;
}
