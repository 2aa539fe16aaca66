import { addTo, removeFrom, setOrDelete } from '../../maps.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';

/** The claims, by key, by the volume that they name, and by those that may own them. */
export class ClaimTable {
  readonly #byKey = new Map<string, ClaimRecord>();
  readonly #byVolume = new Map<string, Set<string>>();
  /** Keys by `namespace/owner`; undefined until its first use, because few clusters have policies that need it. */
  #byOwner: Map<string, Set<string>> | undefined;

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

  /** Claims that may belong to the owner: those that name it, and those whose name or pod is named after it. */
  *maybeOwnedBy(ownerKey: string): Iterable<ClaimRecord> {
    if (this.#byOwner === undefined) {
      this.#byOwner = new Map();
      for (const record of this.#byKey.values()) changeOwners(addTo, this.#byOwner, record);
    }
    for (const key of this.#byOwner.get(ownerKey) ?? []) yield this.#byKey.get(key)!;
  }

  set(key: string, record: ClaimRecord | undefined): void {
    const before = this.#byKey.get(key);
    if (before !== undefined && before.volumeName !== '') removeFrom(this.#byVolume, before.volumeName, key);
    if (this.#byOwner !== undefined && before !== undefined) changeOwners(removeFrom, this.#byOwner, before);
    if (this.#byOwner !== undefined && record !== undefined) changeOwners(addTo, this.#byOwner, record);
    setOrDelete(this.#byKey, key, record);
    if (record !== undefined && record.volumeName !== '') addTo(this.#byVolume, record.volumeName, key);
  }
}

/** Whether the table finds the claim under `namespace/owner`. */
export function isPossibleOwner(record: ClaimRecord, ownerKey: string): boolean {
  return possibleOwners(record).some((owner) => `${record.namespace}/${owner}` === ownerKey);
}

type Change = (map: Map<string, Set<string>>, owner: string, key: string) => void;

function changeOwners(change: Change, byOwner: Map<string, Set<string>>, record: ClaimRecord): void {
  for (const owner of possibleOwners(record)) change(byOwner, `${record.namespace}/${owner}`, record.key);
}

/**
 * The controller of a claim, or the controller of its pod, whose name begins with that of its controller. A claim of a StatefulSet may have
 * no controller: it is named `TEMPLATE-SET-ORDINAL`, and both names may have dashes.
 */
function possibleOwners({ name, controller }: ClaimRecord): readonly string[] {
  if (controller !== undefined) {
    const end = controller.kind === 'Pod' ? controller.name.lastIndexOf('-') : -1;
    return end < 0 ? [controller.name] : [controller.name, controller.name.slice(0, end)];
  }
  const stem = /^(.+)-\d+$/.exec(name)?.[1] ?? '';
  const owners: string[] = [];
  for (let at = stem.indexOf('-'); at >= 0; at = stem.indexOf('-', at + 1)) owners.push(stem.slice(at + 1));
  return owners;
}
