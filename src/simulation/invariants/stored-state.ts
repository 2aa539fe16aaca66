import type { StoreObserver } from '../../apiserver/store/memory-store.ts';
import type { StoreChange, StoreEntry } from '../../apiserver/store/store.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { qualifiedPlural, type Resource } from '../../kube/resource.ts';
import type { Invariant, StorageFacts, StoredVersion, Violation } from './invariant.ts';
import { LeaseHolders } from './lease-holders.ts';

const decoder = new TextDecoder();

/** Resources without invariants that are written all the time. */
const ignored: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);
const leases = 'leases.coordination.k8s.io';

export interface StoredStateOptions {
  /** Called with every version before it is checked. */
  readonly onVersion?: (version: StoredVersion) => void;
  readonly storage?: StorageFacts;
  /** Without it, Leases are not checked. */
  readonly nowMs?: () => number;
}

/**
 * The objects of a store, followed version by version. Given to a `MemoryStore` as its observer, it checks the invariants on every
 * stored version: that one call gives any test of a cluster the same checks as the simulation.
 */
export class StoredState implements StoreObserver {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #invariants: readonly Invariant[];
  readonly #onVersion: (version: StoredVersion) => void;
  readonly #storage: StorageFacts | undefined;
  readonly #leaseHolders: LeaseHolders | undefined;
  readonly #violations: Violation[] = [];

  constructor(invariants: readonly Invariant[], options: StoredStateOptions = {}) {
    this.#invariants = invariants.filter((invariant) => invariant.onVersion !== undefined);
    this.#onVersion = options.onVersion ?? (() => {});
    this.#storage = options.storage;
    this.#leaseHolders = options.nowMs && new LeaseHolders(options.nowMs);
  }

  /** Versions are followed but not checked while `isPaused`: for tests that create a wrong state on purpose. */
  isPaused = false;

  /** What was wrong with any version so far; only the first of each invariant. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** Whether every Lease of an election has a holder that keeps it. */
  get areLeasesHeld(): boolean {
    return this.#leaseHolders?.areHeld() ?? true;
  }

  get<T extends KubeObject>(resource: Resource<T>, key: string): T | undefined {
    // Safe: the bucket of a resource holds its objects.
    return this.#objects.get(qualifiedPlural(resource))?.get(key) as T | undefined;
  }

  values<T extends KubeObject>(resource: Resource<T>): Iterable<T> {
    return (this.#objects.get(qualifiedPlural(resource))?.values() ?? []) as Iterable<T>;
  }

  written({ type, bucket, entry }: StoreChange): void {
    if (ignored.has(bucket)) return;
    const key = entry.key;
    if (bucket === leases) {
      const problem = this.#leaseHolders?.written(key, type === 'put' ? objectOf(entry) : undefined);
      if (problem !== undefined) this.#violations.push(problem);
      return;
    }
    const objects = this.#bucket(bucket);
    const before = objects.get(key);
    const after = type === 'put' ? objectOf(entry) : undefined;
    if (after === undefined) objects.delete(key);
    else objects.set(key, after);
    const version = { resource: bucket, key, revision: entry.revision, before, after };
    this.#onVersion(version);
    if (this.isPaused) return;
    for (const invariant of this.#invariants) this.#check(invariant, version);
  }

  rolledBack({ bucket, entry, previous }: StoreChange): void {
    if (ignored.has(bucket)) return;
    if (bucket === leases) {
      this.#leaseHolders?.rolledBack(entry.key);
      return;
    }
    if (previous === undefined) this.#bucket(bucket).delete(entry.key);
    else this.#bucket(bucket).set(entry.key, objectOf(previous));
  }

  #check({ name, onVersion }: Invariant, version: StoredVersion): void {
    if (this.#violations.some(({ invariant }) => invariant === name)) return;
    const detail = onVersion?.(version, this, this.#storage);
    if (detail !== undefined)
      this.#violations.push({ invariant: name, detail: `${detail} (version ${version.revision})` });
  }

  #bucket(name: string): Map<string, KubeObject> {
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const created = new Map<string, KubeObject>();
    this.#objects.set(name, created);
    return created;
  }
}

function objectOf({ bytes }: StoreEntry): KubeObject {
  // Safe: the registry stores nothing but objects.
  return JSON.parse(decoder.decode(bytes)) as KubeObject;
}
