import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { textOf } from '../../kube/wire.ts';

/** The uids of the claims of the cluster: a volume is named after the uid of its claim. */
export class ClaimUids {
  readonly #uidOf = new Map<string, string>();
  readonly #uids = new Set<string>();

  set({ metadata }: PersistentVolumeClaim): void {
    const key = `${textOf(metadata?.namespace)}/${textOf(metadata?.name)}`;
    const uid = textOf(metadata?.uid);
    const before = this.#uidOf.get(key);
    if (before === uid) return;
    if (before !== undefined) this.#uids.delete(before);
    this.#uidOf.set(key, uid);
    this.#uids.add(uid);
  }

  delete(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    this.#uids.delete(this.#uidOf.get(key) ?? '');
    this.#uidOf.delete(key);
  }

  has(uid: string): boolean {
    return this.#uids.has(uid);
  }
}
