/** The drives that have a volume of a group, in their ledgers or promised to them. A class that spreads volumes keeps others of the group away. */
export class DriveGroups {
  /** The number of reasons by group and by the key of the drive's pool. */
  readonly #drives = new Map<string, Map<string, number>>();

  /** The keys of the drives' pools; undefined if no drive has a volume of the group. */
  drivesWith(group: string): ReadonlyMap<string, number> | undefined {
    return this.#drives.get(group);
  }

  add(group: string, poolKey: string): void {
    const drives = this.#drives.get(group) ?? new Map<string, number>();
    this.#drives.set(group, drives);
    drives.set(poolKey, (drives.get(poolKey) ?? 0) + 1);
  }

  remove(group: string, poolKey: string): void {
    const drives = this.#drives.get(group);
    const count = drives?.get(poolKey) ?? 0;
    if (drives === undefined || count === 0) return;
    if (count > 1) drives.set(poolKey, count - 1);
    else drives.delete(poolKey);
    if (drives.size === 0) this.#drives.delete(group);
  }
}
