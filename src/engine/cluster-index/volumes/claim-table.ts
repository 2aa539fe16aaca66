import type { ClaimRecord } from '../../records/claim-record.ts';
import { addTo, removeFrom, setOrDelete } from '../primitives/maps.ts';

/** The claims, by key and by the volume that they name. */
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
    const before = this.#byKey.get(key);
    if (before !== undefined && before.volumeName !== '') removeFrom(this.#byVolume, before.volumeName, key);
    setOrDelete(this.#byKey, key, record);
    if (record !== undefined && record.volumeName !== '') addTo(this.#byVolume, record.volumeName, key);
  }
}
