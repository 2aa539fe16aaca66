import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { PodSelectorRecord } from '../../records/pod-selector-record.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { Topology } from '../nodes/topology-table.ts';
import { type ClaimTable, isPossibleOwner } from '../volumes/claim-table.ts';
import type { VolumeTable } from '../volumes/volume-table.ts';
import { type GroupSources, ownerGroupOf } from './policies/spread-group.ts';
import type { CapacityPromise } from './promise-table.ts';

/** Where the volume of a claim is. */
export interface VolumePlace {
  /** The row of the only node that reaches it; undefined if there are several or none. */
  readonly node: number | undefined;
  /** The only zone that reaches it. */
  readonly zone: string | undefined;
}

interface PlaceSources extends Pick<GroupSources, 'podSelectors' | 'pods'> {
  readonly nodes: NodeTable;
  readonly claims: ClaimTable;
  readonly volumes: VolumeTable;
  readonly promises: { get(id: string): CapacityPromise | undefined };
}

const nowhere: VolumePlace = { node: undefined, zone: undefined };

/** More owners, or more changes between two questions, than this start the counts again. */
const ownersMax = 10_000;
const staleMax = 10_000;

/** How many volumes of one owner are in each place. */
export class PlacesOfOwner {
  readonly #byClaim = new Map<string, VolumePlace>();
  readonly #nodes = new Map<number, number>();
  readonly #zones = new Map<string, number>();

  /** Indexed by node row. */
  get nodes(): ReadonlyMap<number, number> {
    return this.#nodes;
  }

  /** Keyed by the value of the zone label. */
  get zones(): ReadonlyMap<string, number> {
    return this.#zones;
  }

  placeOf(claimKey: string): VolumePlace {
    return this.#byClaim.get(claimKey) ?? nowhere;
  }

  set(claimKey: string, place: VolumePlace): void {
    const before = this.placeOf(claimKey);
    count(this.#nodes, before.node, -1);
    count(this.#zones, before.zone, -1);
    count(this.#nodes, place.node, 1);
    count(this.#zones, place.zone, 1);
    if (place.node === undefined && place.zone === undefined) this.#byClaim.delete(claimKey);
    else this.#byClaim.set(claimKey, place);
  }
}

/**
 * The nodes and zones that have volumes of an owner, such as a StatefulSet. An owner's volumes are counted on first use, because few
 * clusters have policies that need it. After that, only claims that have changed are read again: an owner may have thousands.
 */
export class OwnerPlaces {
  readonly #sources: PlaceSources;
  readonly #byOwner = new Map<string, PlacesOfOwner>();
  /** The owner under which a claim is counted. */
  readonly #ownerOf = new Map<string, string>();
  /** The keys of claims that may have changed since they were counted. */
  readonly #stale = new Set<string>();
  /** Thousands of volumes may share a topology that all nodes are in. */
  #byTopology = new WeakMap<Topology, VolumePlace>();

  constructor(sources: PlaceSources) {
    this.#sources = sources;
  }

  /** `owner`: as `ownerGroupOf` returns it. Valid until the index changes. */
  of(owner: string): PlacesOfOwner {
    for (const key of this.#stale) this.#countAgain(key);
    this.#stale.clear();
    return this.#byOwner.get(owner) ?? this.#collect(owner);
  }

  // ── Invalidation ──

  /** The claim, its volume, its hold or its promise changes. */
  claimChanged(key: string): void {
    if (this.#byOwner.size === 0) return;
    if (this.#stale.size < staleMax) this.#stale.add(key);
    else this.invalidateAll();
  }

  volumeChanged(name: string): void {
    if (this.#byOwner.size === 0) return;
    for (const key of this.#sources.claims.namingVolume(name)) this.claimChanged(key);
    const holder = this.#sources.volumes.holderOf(name);
    if (holder !== undefined) this.claimChanged(holder);
  }

  /** Claims of generic ephemeral volumes belong to the owner of their pod. */
  podChanged(key: string, before: PodRecord | undefined, after: PodRecord | undefined): void {
    if (this.#byOwner.size === 0 || before?.owner === after?.owner) return;
    for (const claim of this.#sources.claims.maybeOwnedBy(key)) this.claimChanged(claim.key);
  }

  /** A claim belongs to the set that has its template. */
  statefulSetChanged(before: PodSelectorRecord | undefined, after: PodSelectorRecord | undefined): void {
    const isSame = String(before?.claimTemplates) === String(after?.claimTemplates);
    if (!isSame || before === undefined || after === undefined) this.invalidateAll();
  }

  /** Nodes come, go, or get other labels. */
  invalidateAll(): void {
    this.#byOwner.clear();
    this.#ownerOf.clear();
    this.#stale.clear();
    this.#byTopology = new WeakMap();
  }

  // ── Counting ──

  #collect(owner: string): PlacesOfOwner {
    if (this.#byOwner.size >= ownersMax) this.invalidateAll();
    const places = new PlacesOfOwner();
    this.#byOwner.set(owner, places);
    for (const claim of this.#sources.claims.maybeOwnedBy(owner))
      if (ownerGroupOf(this.#sources, claim) === owner) this.#count(claim, owner);
    return places;
  }

  #countAgain(key: string): void {
    const counted = this.#ownerOf.get(key);
    if (counted !== undefined) {
      this.#byOwner.get(counted)?.set(key, nowhere);
      this.#ownerOf.delete(key);
    }
    const claim = this.#sources.claims.get(key);
    const owner = claim && ownerGroupOf(this.#sources, claim);
    // Only claims that `#collect` would find too, so that the counts do not depend on the order of events.
    if (claim !== undefined && owner !== undefined && isPossibleOwner(claim, owner))
      this.#count(claim, owner);
  }

  #count(claim: ClaimRecord, owner: string): void {
    const places = this.#byOwner.get(owner);
    if (places === undefined) return;
    places.set(claim.key, this.#placeOf(claim));
    this.#ownerOf.set(claim.key, owner);
  }

  /** Where the claim's volume is reached, or the node for which it is being provisioned. */
  #placeOf(claim: ClaimRecord): VolumePlace {
    const { volumes, nodes, promises } = this.#sources;
    const volume = claim.volumeName || volumes.heldFor(claim.key)?.key;
    const row = volume === undefined ? undefined : volumes.row(volume);
    if (row !== undefined) return this.#placeOfTopology(volumes.topology(row));
    const nodeName = claim.selectedNode || promises.get(claim.key)?.nodeName;
    const node = nodeName === undefined ? undefined : nodes.row(nodeName);
    return node === undefined ? nowhere : { node, zone: zoneOfNode(nodes, node) };
  }

  #placeOfTopology(topology: Topology): VolumePlace {
    let place = this.#byTopology.get(topology);
    if (place === undefined) {
      place = placeOfRows(this.#sources.nodes, topology.nodes.rows());
      this.#byTopology.set(topology, place);
    }
    return place;
  }
}

export function zoneOfNode(nodes: NodeTable, row: number): string | undefined {
  return nodes.record(row)?.labels[wellKnownLabels.zone];
}

function placeOfRows(nodes: NodeTable, rows: readonly number[]): VolumePlace {
  const zones = new Set(rows.map((row) => zoneOfNode(nodes, row)));
  const [zone] = zones;
  return { node: rows.length === 1 ? rows[0] : undefined, zone: zones.size === 1 ? zone : undefined };
}

function count<K>(counts: Map<K, number>, key: K | undefined, step: 1 | -1): void {
  if (key === undefined) return;
  const sum = (counts.get(key) ?? 0) + step;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
