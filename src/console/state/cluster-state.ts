import type { IndexedKind } from '../../engine/cluster-index/cluster-change.ts';
import { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { setPublisherLease } from '../../engine/cluster-index/publisher-lease.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { keyOf } from '../../kube/object-key.ts';
import { textOf } from '../../kube/wire.ts';
import { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import type { RowType } from '../wire/rows.ts';
import {
  type ConsoleKind,
  type DiskKind,
  type DiskObjectOf,
  diskKinds,
  isDiskKind,
} from './console-objects.ts';
import { consoleClaimOf, consoleNodeOf, consolePodOf, consoleVolumeOf } from './object-rows.ts';
import { type PathObjects, PodPaths } from './pod-paths.ts';
import { RowStore } from './row-store.ts';

/** The objects of disks, by name. */
export type ConsoleDiskObjects = { readonly [K in DiskKind]: ReadonlyMap<string, DiskObjectOf[K]> };

/**
 * The cluster as the console has it: the objects, the engine's index of them, and the rows that were made of them. Changes are recorded at
 * once; `flush` makes rows of what has changed, so that a hundred changes of one object cost one row.
 */
export class ClusterState {
  readonly snapshot = new ClusterSnapshot();
  /** The index is derived from the objects alone, as in the commands, which build their own. */
  readonly index = new ClusterIndex(stowageProfile, { remembersPromises: false });
  readonly rows: RowStore;
  readonly paths = new PodPaths();
  readonly #disks = Object.fromEntries(
    diskKinds.map((kind) => [kind, new Map<string, KubeObject>()]),
  ) as Record<DiskKind, Map<string, KubeObject>>;
  readonly #dirty: Record<'node' | 'volume' | 'claim' | 'pod', Set<string>> = {
    node: new Set(),
    volume: new Set(),
    claim: new Set(),
    pod: new Set(),
  };
  /** Figures of pools and disks depend on many objects, so they are all made again. */
  #isPoolsDirty = false;
  #isDisksDirty = false;
  /** A volume's row names the only node that reaches it, so a new node may change any of them. */
  #areVolumesDirty = false;

  constructor(epoch: string) {
    this.rows = new RowStore(epoch);
  }

  get disks(): ConsoleDiskObjects {
    // Safe: a kind's map holds objects of that kind.
    return this.#disks as unknown as ConsoleDiskObjects;
  }

  upsert(kind: ConsoleKind, object: KubeObject): void {
    const key = keyOf(object);
    if (isDiskKind(kind)) {
      this.#disks[kind].set(key, object);
      this.#isDisksDirty = true;
      return;
    }
    if (kind === 'Node') this.#areVolumesDirty ||= this.snapshot.get(kind, key) === undefined;
    this.#markBefore(kind, key);
    this.snapshot.add(kind, object as never);
    this.index.upsert(kind, object as never);
    this.#mark(kind, key, object);
  }

  remove(kind: ConsoleKind, key: string): void {
    if (isDiskKind(kind)) {
      this.#disks[kind].delete(key);
      this.#isDisksDirty = true;
      return;
    }
    const object = this.snapshot.get(kind, key);
    if (object === undefined) return;
    if (kind === 'Node') this.#areVolumesDirty = true;
    this.#markBefore(kind, key);
    this.snapshot.remove(kind, key);
    this.index.remove(kind, key);
    this.#mark(kind, key, object);
    if (kind === 'Pod') this.paths.forget(object.metadata?.uid ?? '');
  }

  /** The Lease of a publisher of capacity; undefined if it was deleted. */
  setPublisherLease(key: string, lease: Lease | undefined): void {
    if (lease === undefined) this.snapshot.removeLease(key);
    else this.snapshot.addLease(lease);
    setPublisherLease(this.index, key, lease);
  }

  /** Whether the capacity of pools may have changed since the last call. */
  takePoolsDirty(): boolean {
    const was = this.#isPoolsDirty;
    this.#isPoolsDirty = false;
    return was;
  }

  /** Figures of pools may have changed by time alone. */
  markPools(): void {
    this.#isPoolsDirty = true;
  }

  takeDisksDirty(): boolean {
    const was = this.#isDisksDirty;
    this.#isDisksDirty = false;
    return was;
  }

  /** Makes at most `max` rows; false if more are left. */
  flush(max: number): boolean {
    if (this.#areVolumesDirty)
      for (const { row } of this.rows.values('volume')) this.#dirty.volume.add(row.id);
    this.#areVolumesDirty = false;
    let left = max;
    for (const type of ['node', 'volume', 'claim', 'pod'] as const) {
      const dirty = this.#dirty[type];
      for (const id of dirty) {
        if (left === 0) return false;
        left -= 1;
        dirty.delete(id);
        this.#makeRow(type, id);
      }
    }
    return true;
  }

  /** Records which steps of their paths pods have reached. */
  observePod(key: string, nowMs: number, isFirstLook: boolean): void {
    const objects = this.pathObjects(key);
    if (objects !== undefined) this.paths.observe(objects, nowMs, isFirstLook);
  }

  pathObjects(key: string): PathObjects | undefined {
    const pod = this.snapshot.get('Pod', key);
    if (pod === undefined) return undefined;
    const claims = this.index.pods.stored(key)?.claims ?? [];
    const existing = claims.flatMap((claim) => this.snapshot.get('PersistentVolumeClaim', claim.key) ?? []);
    return {
      pod,
      claims: existing,
      claimCount: claims.length,
      isHeld: existing.map((claim) => this.#isHeld(keyOf(claim))),
    };
  }

  /** The pods that use an object, as far as their rows depend on it. */
  podsOf(kind: ConsoleKind, object: KubeObject): readonly string[] {
    if (kind === 'Pod') return [keyOf(object)];
    const claim = kind === 'PersistentVolumeClaim' ? keyOf(object) : claimOf(kind, object);
    return claim === undefined ? [] : [...this.index.pods.usingClaim(claim)].map(({ key }) => key);
  }

  #makeRow(type: Exclude<RowType, 'pool' | 'disk'>, id: string): void {
    switch (type) {
      case 'node': {
        const node = this.snapshot.get('Node', id);
        if (node === undefined) this.rows.delete('node', id);
        else this.rows.set('node', consoleNodeOf(node, this.index));
        return;
      }
      case 'volume': {
        const volume = this.snapshot.get('PersistentVolume', id);
        if (volume === undefined) this.rows.delete('volume', id);
        else this.rows.set('volume', consoleVolumeOf(volume, this.index));
        return;
      }
      case 'claim': {
        const claim = this.snapshot.get('PersistentVolumeClaim', id);
        if (claim === undefined) this.rows.delete('claim', id);
        else this.rows.set('claim', consoleClaimOf(claim, this.#isHeld(id)));
        return;
      }
      case 'pod': {
        const pod = this.snapshot.get('Pod', id);
        if (pod === undefined) this.rows.delete('pod', id);
        else this.rows.set('pod', consolePodOf(pod, this.index, this.#hasReservedClaim(id)));
      }
    }
  }

  /** Whether a volume names the claim, which does not name it yet. */
  #isHeld(claim: string): boolean {
    return this.#volumeOfClaim.has(claim);
  }

  #hasReservedClaim(pod: string): boolean {
    return (this.index.pods.stored(pod)?.claims ?? []).some(({ key }) => {
      const claim = this.index.claims.get(key);
      return claim !== undefined && !claim.isBound && (claim.selectedNode !== '' || this.#isHeld(key));
    });
  }

  /** The volume whose claimRef names the claim, by claim. */
  readonly #volumeOfClaim = new Map<string, string>();

  /** Marks what the object no longer affects after the change. */
  #markBefore(kind: IndexedKind, key: string): void {
    const before = this.snapshot.get(kind, key);
    if (before === undefined) return;
    if (kind === 'PersistentVolume') {
      const claim = claimOf(kind, before);
      if (claim !== undefined && this.#volumeOfClaim.get(claim) === key) this.#volumeOfClaim.delete(claim);
    }
    this.#mark(kind, key, before);
  }

  #mark(kind: IndexedKind, key: string, object: KubeObject): void {
    const dirty = this.#dirty;
    switch (kind) {
      case 'Node':
        dirty.node.add(key);
        this.#isPoolsDirty = true;
        return;
      case 'PersistentVolume': {
        dirty.volume.add(key);
        const claim = claimOf(kind, object);
        if (claim !== undefined) {
          if (this.snapshot.get(kind, key) === object) this.#volumeOfClaim.set(claim, key);
          this.#markClaim(claim);
        }
        this.#isPoolsDirty = true;
        return;
      }
      case 'PersistentVolumeClaim':
        this.#markClaim(key);
        this.#isPoolsDirty = true;
        return;
      case 'Pod': {
        dirty.pod.add(key);
        // Safe: the kind says so.
        const node = (object as Pod).spec?.nodeName;
        if (node) dirty.node.add(node);
        this.#isPoolsDirty ||= (this.index.pods.stored(key)?.inlineVolumes.length ?? 0) > 0;
        return;
      }
      default:
        this.#isPoolsDirty = true;
    }
  }

  #markClaim(claim: string): void {
    this.#dirty.claim.add(claim);
    for (const { key } of this.index.pods.usingClaim(claim)) this.#dirty.pod.add(key);
  }
}

function claimOf(kind: ConsoleKind, object: KubeObject): string | undefined {
  if (kind !== 'PersistentVolume') return undefined;
  const { claimRef } =
    (object as { readonly spec?: { readonly claimRef?: { namespace?: string; name?: string } } }).spec ?? {};
  return claimRef?.name === undefined ? undefined : `${textOf(claimRef.namespace)}/${claimRef.name}`;
}
