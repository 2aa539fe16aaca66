import type { CapacityPromise } from './promise-table.ts';

/** Their volumes are seen within seconds, or never. */
const keptMax = 1_000;

/** The last promises of claims that were deleted while a volume was being provisioned for them, and whose volume was not seen yet. */
export class DeletedClaims {
  readonly #byUid = new Map<string, CapacityPromise>();

  /** Returns what undoes it. */
  add(promised: CapacityPromise): () => void {
    const { claimUid } = promised;
    this.#byUid.set(claimUid, promised);
    const [oldest] = this.#byUid.keys();
    if (this.#byUid.size > keptMax && oldest !== undefined) this.#byUid.delete(oldest);
    return () => this.#byUid.delete(claimUid);
  }

  get(claimUid: string): CapacityPromise | undefined {
    return this.#byUid.get(claimUid);
  }
}
