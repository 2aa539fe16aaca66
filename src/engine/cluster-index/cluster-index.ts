import { normaliseLegacyNames } from '../../kube/legacy/legacy-names.ts';
import { setOrDelete } from '../maps.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import type { ClassRecord } from '../records/class-record.ts';
import { type DriverRecord, requirementCount } from '../records/driver-record.ts';
import { Interner } from '../records/interner.ts';
import { haveSameLabels } from '../records/labels.ts';
import type { NamespaceRecord } from '../records/namespace-record.ts';
import { everyNode } from '../records/node-matcher.ts';
import type { NodeRecord } from '../records/node-record.ts';
import type { InlineVolume, PodRecord } from '../records/pod-record.ts';
import type { PodSelectorRecord } from '../records/pod-selector-record.ts';
import { NodeSelectorCache } from '../records/pod-shape/node-selector-cache.ts';
import { capacityPoolKey, type PoolRecord } from '../records/pool-record.ts';
import type { ReadContext, VolumeRecord } from '../records/volume-record.ts';
import type { Size } from '../size.ts';
import {
  type ClusterChange,
  clusterChangeOf,
  type IndexedKind,
  type IndexUpdate,
  namelessUpdate,
  type RecordOf,
  type ReleaseChange,
} from './cluster-change.ts';
import { DeviceClassTable } from './nodes/device-class-table.ts';
import { NodeTable } from './nodes/node-table.ts';
import { NodeTraits } from './nodes/node-traits.ts';
import { TopologyCache } from './nodes/topology-cache.ts';
import { type Topology, TopologyTable } from './nodes/topology-table.ts';
import { objectWarnings, problemsOf } from './object-warnings.ts';
import { Occupancy } from './pods/occupancy.ts';
import { PodRelations } from './pods/pod-relations.ts';
import { PodTable } from './pods/pod-table.ts';
import { PortTable } from './pods/port-table.ts';
import { UsageTable } from './pods/usage-table.ts';
import { type DriverPoolsDifference, hasNewCapacityReport, type PoolChange } from './pool-changes.ts';
import { drivePoolKey } from './pools/drive-pool.ts';
import { OwnerPlaces } from './pools/owner-places.ts';
import { PoolTable } from './pools/pool-table.ts';
import { type PromiseOptions, PromiseReconciler } from './pools/promise-reconciler.ts';
import { type CapacityPromise, PromiseTable } from './pools/promise-table.ts';
import { ProvisioningFailures } from './pools/provisioning-failures.ts';
import { usedCapacityCheck } from './pools/used-capacity.ts';
import { Scratch } from './primitives/scratch.ts';
import { type Savepoint, UndoLog } from './primitives/undo-log.ts';
import { type Profile, profileProblems, stowageProfile } from './profile.ts';
import { asObject, indexKeyOf, type ObjectOf, readers } from './read-object.ts';
import { isNewer } from './resource-versions.ts';
import { AttachTable } from './volumes/attach-table.ts';
import { ClaimTable } from './volumes/claim-table.ts';
import { ExclusiveDiskTable } from './volumes/exclusive-disk-table.ts';
import { VolumeTable } from './volumes/volume-table.ts';

/**
 * The state that plans read. Informer events or files write it.
 *
 * - `upsert` and `remove` take events in the order in which an informer (or a file) delivers them. The newest version of an
 *   object wins; the same version again changes nothing.
 * - Reservations (see the ledger) are an overlay: holds on volumes, promises on pools, assumed pods.
 * - A savepoint makes every later write revocable, for what-if questions.
 *
 * All methods are synchronous, so the index never changes during a plan.
 */
export class ClusterIndex {
  readonly profile: Profile;
  readonly remembersPromises: boolean;
  /** True: the scheduler binds WaitForFirstConsumer claims together with the pod. False: such pods wait until another component has bound their claims. */
  bindsVolumes = true;
  readonly nodes = new NodeTable();
  readonly nodeTraits = new NodeTraits();
  readonly topologies = new TopologyTable(this.nodes);
  readonly topologyCache = new TopologyCache(this.topologies);
  readonly volumes = new VolumeTable(this.topologies);
  readonly claims = new ClaimTable();
  readonly pools = new PoolTable(this.topologies, this.nodes);
  readonly pods = new PodTable();
  readonly classes = new Map<string, ClassRecord>();
  readonly drivers = new Map<string, DriverRecord>();
  readonly deviceClasses = new DeviceClassTable();
  readonly namespaces = new Map<string, NamespaceRecord>();
  /** Objects that select pods, by kind and key. */
  readonly podSelectors = {
    Service: new Map<string, PodSelectorRecord>(),
    ReplicationController: new Map<string, PodSelectorRecord>(),
    ReplicaSet: new Map<string, PodSelectorRecord>(),
    StatefulSet: new Map<string, PodSelectorRecord>(),
  };
  /** The topology of objects that every node reaches. */
  readonly everyNode: Topology = this.topologies.acquire(everyNode);
  readonly #allowedTopologies = new Map<string, Topology>();
  readonly attachments = new AttachTable(this);
  readonly promises = new PromiseTable(this.pools);
  readonly ownerPlaces = new OwnerPlaces(this);
  /** Nodes where provisioning failed recently. The scheduler records the failures. */
  readonly provisioningFailures = new ProvisioningFailures();
  #requiredDrivers = 0;
  /** The changes by the last write of a DriverCapacity. */
  #difference: DriverPoolsDifference | undefined;
  readonly #undoLog = new UndoLog();
  readonly #interner = new Interner();
  readonly #readContext: ReadContext;
  /** Scratch columns that plans reuse. */
  readonly scratch = new Scratch();
  readonly #promiseReconciler = new PromiseReconciler(this);
  readonly usage = new UsageTable();
  readonly ports = new PortTable();
  readonly disks = new ExclusiveDiskTable();
  readonly relations = new PodRelations(this.nodes, this.namespaces);
  readonly #occupancy = new Occupancy(this.nodes, this.pods, [
    this.usage,
    this.ports,
    this.disks,
    this.relations,
  ]);

  /** Throws a RangeError if the profile is invalid: the caller supplies it, so it is not cluster data. */
  constructor(profile: Profile = stowageProfile, { remembersPromises = true }: PromiseOptions = {}) {
    const problems = profileProblems(profile);
    if (problems.length > 0) throw new RangeError(`profile: ${problems.join('; ')}`);
    this.profile = profile;
    this.remembersPromises = remembersPromises;
    this.#readContext = {
      interner: this.#interner,
      nodeSelectors: new NodeSelectorCache(profile.honourMatchFields),
      honourZoneParameters: profile.honourZoneParameters,
      knownPools: (objectName) => this.pools.driverPools(objectName),
      classOf: (name) => this.classes.get(name),
    };
  }

  upsert<K extends IndexedKind>(kind: K, object: ObjectOf[K]): IndexUpdate {
    const { object: current, notices: legacyProblems } = normaliseLegacyNames(asObject(object));
    const key = indexKeyOf(kind, current);
    if (key === undefined) return namelessUpdate(kind);
    const record = readers[kind](current as ObjectOf[K], this.#readContext);
    const before = this.#get(kind, key);
    if (before !== undefined && !isNewer(before, record)) return { change: undefined, warnings: [] };
    const change = this.#change(kind, key, record);
    return { change, warnings: objectWarnings(kind, key, [...legacyProblems, ...problemsOf(record)]) };
  }

  remove<K extends IndexedKind>(kind: K, key: string): IndexUpdate {
    if (this.#get(kind, key) === undefined) return { change: undefined, warnings: [] };
    return { change: this.#change(kind, key, undefined), warnings: [] };
  }

  /** Whether any CSIDriver sets `preventPodSchedulingIfMissing`. */
  get hasRequiredDrivers(): boolean {
    return this.#requiredDrivers > 0;
  }

  /** The nodes on which the class may provision volumes. */
  allowedTopology(className: string): Topology {
    return this.#allowedTopologies.get(className) ?? this.everyNode;
  }

  savepoint(): Savepoint {
    const freedPools = [...this.promises.freedPools];
    const savepoint = this.#undoLog.savepoint();
    // This undo runs last: a rollback of promises frees no capacity that pending pods could use.
    this.#undoLog.record(() => this.promises.setFreedPools(freedPools));
    return savepoint;
  }

  rollback(savepoint: Savepoint): void {
    this.#undoLog.rollback(savepoint);
  }

  release(savepoint: Savepoint): void {
    this.#undoLog.release(savepoint);
  }

  /** For overlays with state outside of the index: `undo` reverts the caller's write if the open savepoint is rolled back. */
  recordUndo(undo: () => void): void {
    this.#undoLog.record(undo);
  }

  /** Assigns promises to pools that were added or moved, and drops expired promises. Every plan calls this first. */
  settle(nowMs: number): void {
    this.#promiseReconciler.settle(nowMs);
  }

  /** The pools with promises released since the last call, or undefined. The owner of the queue calls this after each event and plan, and wakes pods. */
  drainReleases(): ReleaseChange | undefined {
    const { freedPools } = this.promises;
    if (freedPools.size === 0) return undefined;
    const pools = this.#freedPools(freedPools);
    this.promises.setFreedPools([]);
    return { kind: 'Release', volumes: [], pools, nodeName: '' };
  }

  // ── Overlays, which the ledger writes ──

  setHold(volumeName: string, claimKey: string | undefined): void {
    this.#write(volumeName, this.volumes.holderOf(volumeName), claimKey, this.#applyHold);
  }

  setPromise(id: string, promised: CapacityPromise | undefined): void {
    const before = this.promises.get(id);
    this.#write(id, before, promised, this.#applyPromise);
    if (promised === undefined || promised.settled !== undefined) return;
    // Without a reservation, the promise belongs to the pool that a restart would assign it to.
    const isReleased = promised.isStored && promised.reservations === 0 && (before?.reservations ?? 0) > 0;
    if (isReleased || promised.poolKey === undefined) this.#promiseReconciler.assignPool(promised);
  }

  /** For what-if questions: the pool that an inline volume on the node would count against. */
  inlinePool(volume: InlineVolume, nodeName: string): PoolRecord | undefined {
    return this.#promiseReconciler.inlinePool(volume, nodeName);
  }

  /** For what-if questions: the capacity reports of the pool, as if its driver had more or less capacity. */
  setPoolCapacityReports(poolKey: string, free: Size | undefined, largest: Size | undefined): void {
    const before = this.pools.get(poolKey);
    if (before === undefined) return;
    this.#write(poolKey, before, { ...before, free, largest }, (key, pool) => this.#applyPool(key, pool));
  }

  setAssumedPod(podKey: string, pod: PodRecord | undefined): void {
    this.#write(podKey, this.pods.assumed(podKey), pod, this.#applyAssumedPod);
  }

  // ── Writes: the undo of each write is to apply the value before it ──

  #write<R>(key: string, before: R | undefined, after: R | undefined, apply: Apply<R>): void {
    this.#undoLog.record(() => apply(key, before));
    apply(key, after);
  }

  #change<K extends IndexedKind>(kind: K, key: string, after: RecordOf[K] | undefined): ClusterChange {
    const before = this.#get(kind, key);
    const dropUsedCapacity = usedCapacityCheck(this, kind, key);
    this.promises.startChange();
    if (kind === 'PersistentVolume') this.#dropLostHold(key, after as VolumeRecord | undefined);
    if (kind === 'PersistentVolumeClaim' && after === undefined) this.provisioningFailures.claimDeleted(key);
    this.#write(key, before, after, this.#appliers[kind] as unknown as Apply<RecordOf[K]>);
    const difference = kind === 'DriverCapacity' ? this.#difference : undefined;
    if (kind === 'CSIStorageCapacity') this.provisioningFailures.poolChanged(capacityPoolKey(key));
    for (const changed of difference?.pools ?? [])
      if (hasNewCapacityReport(changed))
        this.provisioningFailures.poolChanged((changed.after ?? changed.before)!.key);
    const change = { kind, before, after, ...(difference && { difference }) };
    if (kind === 'Drive' && hasNewCapacityReport(change as PoolChange))
      this.provisioningFailures.poolChanged(drivePoolKey(key));
    this.#promiseReconciler.changed(clusterChangeOf(change, []));
    dropUsedCapacity();
    return clusterChangeOf(change, this.#freedPools(this.promises.freedInChange));
  }

  #freedPools(poolKeys: ReadonlySet<string>): readonly PoolRecord[] {
    return poolKeys.size === 0 ? [] : [...poolKeys].flatMap((key) => this.pools.poolsOnSameBacking(key));
  }

  /** A hold ends when its volume is deleted or gets the claimRef of another claim, whatever was reserved. */
  #dropLostHold(name: string, volume: VolumeRecord | undefined): void {
    const holder = this.volumes.holderOf(name);
    if (holder === undefined) return;
    const isLost = volume === undefined || (volume.claim !== undefined && volume.claim.claimKey !== holder);
    if (isLost) this.setHold(name, undefined);
  }

  #get<K extends IndexedKind>(kind: K, key: string): RecordOf[K] | undefined {
    return this.#getters[kind](key) as RecordOf[K] | undefined;
  }

  readonly #getters: { readonly [K in IndexedKind]: (key: string) => RecordOf[K] | undefined } = {
    Node: (key) => this.nodes.get(key),
    PersistentVolume: (key) => this.volumes.get(key),
    PersistentVolumeClaim: (key) => this.claims.get(key),
    StorageClass: (key) => this.classes.get(key),
    CSIDriver: (key) => this.drivers.get(key),
    CSINode: (key) => this.nodes.drivers(key),
    CSIStorageCapacity: (key) => this.pools.get(capacityPoolKey(key)),
    DriverCapacity: (key) => this.pools.driverPools(key),
    Drive: (key) => this.pools.get(drivePoolKey(key)),
    VolumeAttachment: (key) => this.attachments.attachment(key),
    Pod: (key) => this.pods.stored(key),
    Namespace: (key) => this.namespaces.get(key),
    Service: (key) => this.podSelectors.Service.get(key),
    ReplicationController: (key) => this.podSelectors.ReplicationController.get(key),
    ReplicaSet: (key) => this.podSelectors.ReplicaSet.get(key),
    StatefulSet: (key) => this.podSelectors.StatefulSet.get(key),
    DeviceClass: (key) => this.deviceClasses.get(key),
  };

  readonly #appliers: { readonly [K in IndexedKind]: Apply<RecordOf[K]> } = {
    Node: (key, record) => this.#applyNode(key, record),
    PersistentVolume: (key, record) => this.#applyVolume(key, record),
    PersistentVolumeClaim: (key, record) => this.#applyClaim(key, record),
    StorageClass: (key, record) => this.#applyClass(key, record),
    CSIDriver: (key, record) => {
      this.#requiredDrivers += requirementCount(record) - requirementCount(this.drivers.get(key));
      setOrDelete(this.drivers, key, record);
    },
    CSINode: (key, record) => {
      this.nodes.setDrivers(key, record);
      this.attachments.nodeChanged(key);
    },
    CSIStorageCapacity: (key, record) => this.#applyPool(capacityPoolKey(key), record),
    DriverCapacity: (key, record) => {
      this.#difference = this.pools.setDriverPools(key, record);
    },
    Drive: (key, record) => this.#applyPool(drivePoolKey(key), record),
    VolumeAttachment: (key, record) => this.attachments.setAttachment(key, record),
    Pod: (key, record) => {
      this.ownerPlaces.podChanged(key, this.pods.stored(key), record);
      this.#updatePod(key, () => this.pods.setStored(key, record));
    },
    Namespace: (key, record) => {
      setOrDelete(this.namespaces, key, record);
      this.relations.scopes.namespaceChanged();
    },
    Service: (key, record) => {
      setOrDelete(this.podSelectors.Service, key, record);
      this.relations.services.set(key, record);
    },
    ReplicationController: (key, record) => setOrDelete(this.podSelectors.ReplicationController, key, record),
    ReplicaSet: (key, record) => setOrDelete(this.podSelectors.ReplicaSet, key, record),
    StatefulSet: (key, record) => {
      this.ownerPlaces.statefulSetChanged(this.podSelectors.StatefulSet.get(key), record);
      setOrDelete(this.podSelectors.StatefulSet, key, record);
    },
    DeviceClass: (key, record) => this.deviceClasses.set(key, record),
  };

  #applyNode(key: string, record: NodeRecord | undefined): void {
    const before = this.nodes.get(key);
    if (record === undefined) this.#occupancy.nodeRemoving(key);
    const row = record === undefined ? this.nodes.delete(key) : this.nodes.put(record);
    if (row === undefined) return;
    this.nodeTraits.nodeChanged(row, before, record);
    this.usage.nodeChanged(row, before, record);
    if (before === undefined && record !== undefined) this.#occupancy.nodeAdded(key, row);
    if (before === undefined || record === undefined) {
      this.attachments.nodeChanged(key);
      this.pools.nodeChanged(key);
    }
    if (before !== undefined && record !== undefined && haveSameLabels(before, record)) return;
    this.topologies.nodeChanged(row, before, record);
    this.ownerPlaces.invalidateAll();
    this.relations.nodeChanged(row, record);
  }

  #applyVolume(key: string, record: VolumeRecord | undefined): void {
    if (record === undefined) this.volumes.delete(key);
    else this.volumes.put(record);
    this.attachments.volumeChanged(key);
    this.ownerPlaces.volumeChanged(key);
  }

  #applyClaim(key: string, record: ClaimRecord | undefined): void {
    this.ownerPlaces.claimChanged(key);
    this.attachments.claimChanged(key);
    this.claims.set(key, record);
    this.attachments.claimChanged(key);
  }

  #applyClass(key: string, record: ClassRecord | undefined): void {
    setOrDelete(this.classes, key, record);
    const before = this.#allowedTopologies.get(key);
    setOrDelete(this.#allowedTopologies, key, record && this.topologies.acquire(record.allowedNodes));
    if (before !== undefined) this.topologies.release(before);
    this.pools.classChanged(key, record);
    this.attachments.invalidateAll();
  }

  #applyPool(key: string, record: PoolRecord | undefined): void {
    if (record === undefined) this.pools.delete(key);
    else this.pools.put(record);
  }

  #updatePod(key: string, change: () => void): void {
    this.attachments.podChanged(key, this.pods.get(key)?.nodeName ?? '');
    this.#occupancy.updatePod(key, change);
    this.attachments.podChanged(key, this.pods.get(key)?.nodeName ?? '');
  }

  readonly #applyHold: Apply<string> = (volumeName, claimKey) => {
    const holder = this.volumes.holderOf(volumeName);
    if (holder !== undefined) {
      this.volumes.releaseHold(volumeName);
      this.attachments.claimChanged(holder);
      this.ownerPlaces.claimChanged(holder);
    }
    if (claimKey === undefined) return;
    this.volumes.hold(volumeName, claimKey);
    this.attachments.claimChanged(claimKey);
    this.ownerPlaces.claimChanged(claimKey);
  };

  readonly #applyPromise: Apply<CapacityPromise> = (id, promised) => {
    this.promises.set(id, promised);
    this.ownerPlaces.claimChanged(id);
  };

  readonly #applyAssumedPod: Apply<PodRecord> = (key, pod) =>
    this.#updatePod(key, () => this.pods.setAssumed(key, pod));
}

type Apply<R> = (key: string, record: R | undefined) => void;
