import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { Topology } from '../../cluster-index/nodes/topology-table.ts';
import { offersModes } from '../../records/access-modes.ts';
import type { ClaimRecord } from '../../records/claim-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { compareSizes, zeroSize } from '../../size.ts';
import type { Obstacle, ObstacleCode, StorageCandidate } from '../framework/finding.ts';
import type { ClaimRequest } from './needs.ts';

/** A volume with more obstacles than this was not close. */
const obstaclesMax = 2;

const otherNode: Obstacle = { code: 'OtherNode', margin: undefined };

interface CloseVolume {
  readonly volume: VolumeRecord;
  readonly topology: Topology;
  readonly obstacles: readonly Obstacle[];
}

interface CloseCandidates {
  readonly candidates: readonly StorageCandidate[];
  /** How many there were. */
  readonly total: number;
}

/**
 * The volumes that came close to serving a claim, for explanations. It checks every volume once; for a node it only has to find out which
 * of the close volumes the node reaches.
 */
class NearbyVolumes {
  readonly #claim: ClaimRecord;
  /** Closest first. */
  readonly #all: readonly CloseVolume[];
  readonly #byTopology = new Map<Topology, CloseVolume[]>();
  /** The topologies of each node. Most clusters have too many topologies to check all of them for every node. */
  readonly #ofNode = new Map<number, Topology[]>();
  /** Explanations go node by node, and claims that share this instance ask the same for each node. */
  #last: { readonly node: number; readonly max: number; readonly close: CloseCandidates } | undefined;

  constructor(index: ClusterIndex, claim: ClaimRecord) {
    this.#claim = claim;
    const close: CloseVolume[] = [];
    for (const volume of index.volumes.records()) {
      const obstacles = obstaclesOf(index, claim, volume);
      if (obstacles.length > obstaclesMax) continue;
      close.push({ volume, topology: index.volumes.topology(index.volumes.row(volume.key)!), obstacles });
    }
    this.#all = close.sort((a, b) => compareCloseness(claim, a, b));
    for (const candidate of this.#all) {
      const known = this.#byTopology.get(candidate.topology);
      if (known === undefined) this.#byTopology.set(candidate.topology, [candidate]);
      else known.push(candidate);
    }
    for (const topology of this.#byTopology.keys())
      topology.nodes.each((node) => this.#addTo(node, topology));
  }

  #addTo(node: number, topology: Topology): void {
    const known = this.#ofNode.get(node);
    if (known === undefined) this.#ofNode.set(node, [topology]);
    else known.push(topology);
  }

  /** Whether the node reaches a volume without obstacles, so that the claim alone could be served. */
  servesAlone(node: number): boolean {
    // The volumes of a topology are sorted, the closest first.
    const isServed = (topology: Topology) => this.#byTopology.get(topology)![0]!.obstacles.length === 0;
    return this.#ofNode.get(node)?.some(isServed) === true;
  }

  /** At most `max` candidates, whichever nodes reach them; and how many there were. */
  anywhere(max: number): CloseCandidates {
    const candidates = this.#all.slice(0, max).map(({ volume, obstacles }) => candidateOf(volume, obstacles));
    return { candidates, total: this.#all.length };
  }

  /** At most `max` candidates, first those that the node reaches, then others; and how many there were. */
  at(node: number, max: number): CloseCandidates {
    if (this.#last?.node !== node || this.#last.max !== max)
      this.#last = { node, max, close: this.#at(node, max) };
    return this.#last.close;
  }

  #at(node: number, max: number): CloseCandidates {
    const reachable = (this.#ofNode.get(node) ?? [])
      .flatMap((topology) => this.#byTopology.get(topology)!)
      .sort((a, b) => compareCloseness(this.#claim, a, b));
    const candidates = reachable.slice(0, max).map(({ volume, obstacles }) => candidateOf(volume, obstacles));
    for (const { volume, topology, obstacles } of this.#all) {
      if (candidates.length >= max || obstacles.length >= obstaclesMax) break;
      if (!topology.nodes.has(node)) candidates.push(candidateOf(volume, [...obstacles, otherNode]));
    }
    return { candidates, total: this.#all.length };
  }
}

function candidateOf(volume: VolumeRecord, obstacles: readonly Obstacle[]): StorageCandidate {
  return { kind: 'volume', name: volume.key, obstacles };
}

/** Fewest obstacles, then the size nearest to the request, then by name. */
function compareCloseness(claim: ClaimRecord, a: CloseVolume, b: CloseVolume): number {
  const request = claim.request?.bytes ?? 0;
  return (
    a.obstacles.length - b.obstacles.length ||
    Math.abs(a.volume.size.bytes - request) - Math.abs(b.volume.size.bytes - request) ||
    (a.volume.key < b.volume.key ? -1 : 1)
  );
}

/** Why this volume can't serve the claim on any node; every reason, in the order of the checks. */
function obstaclesOf(index: ClusterIndex, claim: ClaimRecord, volume: VolumeRecord): Obstacle[] {
  const found: Obstacle[] = [];
  const add = (code: ObstacleCode, isObstacle: boolean) => {
    if (isObstacle) found.push({ code, margin: code === 'TooSmall' ? sizeMargin(claim, volume) : undefined });
  };
  const isReserved = isReservedFor(index, claim, volume);
  add('Malformed', !volume.isUsable);
  add(
    'ClaimedByOther',
    !isReserved && (volume.claim !== undefined || index.volumes.holderOf(volume.key) !== undefined),
  );
  add('TooSmall', volume.isUsable && compareSizes(volume.size, claim.request ?? zeroSize) < 0);
  add('OtherMode', volume.mode !== claim.mode);
  add('OtherAttributesClass', volume.attributesClass !== claim.attributesClass);
  add('Deleting', volume.isDeleting);
  if (isReserved) return found;
  // A volume that is bound to another claim also has another phase; that counts as one obstacle, not two.
  add('NotAvailable', volume.claim === undefined && volume.phase !== 'Available');
  add('LabelsDiffer', claim.selector !== undefined && !matchesLabels(claim.selector, volume.labels));
  add('OtherClass', volume.className !== claim.className);
  add('MissingAccessMode', !offersModes(volume.accessModes, claim.accessModes));
  return found;
}

function isReservedFor(index: ClusterIndex, claim: ClaimRecord, volume: VolumeRecord): boolean {
  if (index.volumes.holderOf(volume.key) === claim.key) return true;
  return volume.claim?.claimKey === claim.key && (volume.claim.uid === '' || volume.claim.uid === claim.uid);
}

function sizeMargin(claim: ClaimRecord, volume: VolumeRecord): Obstacle['margin'] {
  return { unit: 'bytes', needed: claim.request ?? zeroSize, free: volume.size, promised: zeroSize };
}

/** Creates the nearby volumes of a request when an explanation first needs them, and keeps them for the other nodes. */
export class NearbyVolumesCache {
  readonly #index: ClusterIndex;
  readonly #byRequest = new Map<ClaimRequest, NearbyVolumes>();
  /** Sorts by the difference from the claim's request. */
  readonly #shared = new Map<string, NearbyVolumes>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  /** Undefined for an inline volume, which no existing volume can serve. */
  of(request: ClaimRequest): NearbyVolumes | undefined {
    if (request.claim === undefined) return undefined;
    let nearby = this.#byRequest.get(request);
    if (nearby === undefined) {
      nearby = this.#lookedUp(request.claim);
      this.#byRequest.set(request, nearby);
    }
    return nearby;
  }

  /** Claims with the same request and without reserved volumes have the same nearby volumes, which are computed once for all of them. */
  #lookedUp(claim: ClaimRecord): NearbyVolumes {
    const { volumes } = this.#index;
    if (volumes.heldFor(claim.key) !== undefined || volumes.claimedFor(claim.key).length > 0)
      return new NearbyVolumes(this.#index, claim);
    const { className, mode, attributesClass, accessModes, selector, selectorKey, request } = claim;
    const asked = [className, mode, attributesClass, accessModes, selector === undefined, selectorKey];
    const key = JSON.stringify([...asked, request?.bytes, String(request?.exactNano)]);
    const nearby = this.#shared.get(key) ?? new NearbyVolumes(this.#index, claim);
    this.#shared.set(key, nearby);
    return nearby;
  }
}
