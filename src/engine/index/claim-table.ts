import type { ClaimRecord } from '../records/claim-record.ts';

/** The claims, also by the volume they name. */
export class ClaimTable {
  readonly #byKey = new Map<string, ClaimRecord>();
  readonly #byVolume = new Map<string, Set<string>>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): ClaimRecord | undefined {
    return this.#byKey.get(key);
  }

  records(): Iterable<ClaimRecord> {
    return this.#byKey.values();
  }

  namingVolume(volumeName: string): Iterable<string> {
    return this.#byVolume.get(volumeName) ?? [];
  }

  set(key: string, record: ClaimRecord | undefined): void {
    this.#unlink(this.#byKey.get(key));
    if (record === undefined) {
      this.#byKey.delete(key);
      return;
    }
    this.#byKey.set(key, record);
    if (record.volumeName === '') return;
    const claims = this.#byVolume.get(record.volumeName);
    if (claims === undefined) this.#byVolume.set(record.volumeName, new Set([key]));
    else claims.add(key);
  }

  #unlink(record: ClaimRecord | undefined): void {
    if (record === undefined || record.volumeName === '') return;
    const claims = this.#byVolume.get(record.volumeName);
    claims?.delete(record.key);
    if (claims?.size === 0) this.#byVolume.delete(record.volumeName);
  }
}
