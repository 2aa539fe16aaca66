import type { ClusterCall, ClusterHooks } from '../cluster/intercepted-cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { CSIStorageCapacity } from '../kube/api/storage.ts';
import type { WatchEvent } from '../kube/api-requests.ts';
import { csiStorageCapacities, persistentVolumeClaims, persistentVolumes } from '../kube/resources.ts';
import { annotations, labels } from '../kube/well-known.ts';
import type { Clock } from '../runtime/clock.ts';
import { driverClassName, sizeOf } from './simulated-driver.ts';

/** A binding selects the node for the claims of its pod one after the other, and ends by then. */
const bindingMaxMs = 60_000;
/** From the delivery of an event until plans are made with it. */
const planningMs = 1_000;

/**
 * For each selection of a node, the sizes of volumes that its scheduler had to reserve when it planned: a scheduler does not know an expansion
 * whose request it has not seen, and reserves nothing for one that exceeds the pool's reported capacity.
 */
export class KnownExpansions {
  /** The bytes of volumes by name, for each `UID NODE` of a selection. */
  readonly #sizes = new Map<string, ReadonlyMap<string, number>>();

  selectionIsSent(claimUid: string, node: string, sizes: ReadonlyMap<string, number>): void {
    this.#sizes.set(`${claimUid} ${node}`, sizes);
  }

  /** The size of the volume that the scheduler had to reserve when it selected the node for the claim; 0 if it did not know the volume. */
  sizeOf(volume: string, { claimUid, node }: SelectedNode): number {
    return this.#sizes.get(`${claimUid} ${node}`)?.get(volume) ?? 0;
  }
}

export interface SelectedNode {
  readonly claimUid: string;
  readonly node: string;
}

interface SeenValue {
  readonly atMs: number;
  /** 0 if the object was deleted. */
  readonly bytes: number;
}

/** Follows which sizes one process has seen. Informers stream their lists, so watches show all objects. */
export class SeenSizes {
  readonly #clock: Clock;
  readonly #known: KnownExpansions;
  readonly #requests = new SeenValues();
  readonly #capacities = new SeenValues();
  /** The capacity reports of pools, by node. */
  readonly #reports = new SeenValues();
  readonly #selections: { readonly pod: string; readonly node: string; readonly atMs: number }[] = [];
  /** Watches whose initial list has not ended. */
  readonly #initialEvents = new WeakMap<ClusterCall, WatchEvent<KubeObject>[]>();
  readonly #started = new WeakSet<ClusterCall>();

  constructor(clock: Clock, known: KnownExpansions) {
    this.#clock = clock;
    this.#known = known;
  }

  /** Runs before the faults: it records when the process sends a selection, not when it arrives. */
  readonly onSend: ClusterHooks = {
    before: ({ resource, name, body }) => {
      if (resource.plural !== persistentVolumeClaims.plural) return;
      const { metadata } = (body ?? {}) as PersistentVolumeClaim;
      const node = metadata?.annotations?.[annotations.selectedNode];
      if (typeof node !== 'string') return;
      const sizes = this.#sizesSince(node, this.#plannedAtMs(podOfClaim(name), node));
      this.#known.selectionIsSent(metadata?.uid ?? '', node, sizes);
    },
  };

  /** Behind the faults: they hold events back. */
  readonly onDelivery: ClusterHooks = {
    onWatchEvent: (call, event) => {
      if (!this.#isInitial(call, event)) this.#see(call.resource.plural, event);
      return undefined;
    },
  };

  /** An informer uses its list when it is complete. */
  #isInitial(call: ClusterCall, event: WatchEvent<KubeObject>): boolean {
    if (call.options.sendInitialEvents !== true || this.#started.has(call)) return false;
    const held = this.#initialEvents.get(call) ?? [];
    this.#initialEvents.set(call, held);
    const isEnd = event.type === 'BOOKMARK' && event.isInitialEnd;
    if (!isEnd) held.push(event);
    if (!isEnd) return true;
    this.#started.add(call);
    this.#initialEvents.delete(call);
    for (const each of held) this.#see(call.resource.plural, each);
    return false;
  }

  #see(plural: string, event: WatchEvent<KubeObject>): void {
    if (event.type === 'BOOKMARK') return;
    const { object } = event;
    const isDeleted = event.type === 'DELETED';
    const see = (values: SeenValues, key: string, size: unknown) =>
      values.add(key, {
        atMs: this.#clock.monotonicMs(),
        bytes: isDeleted ? 0 : sizeOf(String(size ?? '0')),
      });
    if (plural === persistentVolumeClaims.plural) {
      const { metadata, spec } = object as PersistentVolumeClaim;
      const isBound = (spec?.volumeName ?? '') !== '';
      if (isBound) see(this.#requests, metadata?.uid ?? '', spec?.resources?.requests?.storage);
    }
    if (plural === persistentVolumes.plural) {
      const { metadata, spec } = object as PersistentVolume;
      see(this.#capacities, metadata?.name ?? '', spec?.capacity?.storage);
    }
    if (plural === csiStorageCapacities.plural) {
      const { nodeTopology, capacity, storageClassName } = object as CSIStorageCapacity;
      const node = nodeTopology?.matchLabels?.[labels.hostname] ?? '';
      if (storageClassName === driverClassName) see(this.#reports, node, capacity);
    }
  }

  /** The plan is older than the first of the selections that may belong to its binding. */
  #plannedAtMs(pod: string, node: string): number {
    const nowMs = this.#clock.monotonicMs();
    const earlier = this.#selections.find(
      (each) => each.pod === pod && each.node === node && nowMs - each.atMs <= bindingMaxMs,
    );
    this.#selections.push({ pod, node, atMs: nowMs });
    return (earlier?.atMs ?? nowMs) - planningMs;
  }

  /** Where a value has changed since then, the lowest counts. */
  #sizesSince(node: string, sinceMs: number): ReadonlyMap<string, number> {
    const report = this.#reports.lowest(node, sinceMs);
    const sizes = new Map<string, number>();
    for (const volume of this.#capacities.keys()) {
      const capacity = this.#capacities.lowest(volume, sinceMs);
      const request = this.#requests.lowest(volume.replace(/^pvc-/, ''), sinceMs);
      const isReserved = capacity > 0 && request > capacity && request - capacity <= report;
      sizes.set(volume, isReserved ? request : capacity);
    }
    return sizes;
  }
}

/** The claims of a pod are named after it, up to the last hyphen. */
function podOfClaim(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

/** The values of some keys, and when each of them was seen. */
class SeenValues {
  readonly #byKey = new Map<string, SeenValue[]>();

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  add(key: string, value: SeenValue): void {
    const known = this.#byKey.get(key) ?? [];
    known.push(value);
    this.#byKey.set(key, known);
  }

  /** The lowest value at any time from then on; 0 if nothing had been seen by then. */
  lowest(key: string, sinceMs: number): number {
    const known = this.#byKey.get(key) ?? [];
    const first = known.findLastIndex(({ atMs }) => atMs < sinceMs);
    if (first < 0) return 0;
    return Math.min(...known.slice(first).map(({ bytes }) => bytes));
  }
}
