import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/** The places of the volumes of one owner, without those of the pod itself, which are on the pod's own node by necessity. */
export interface OccupiedPlaces {
  /** By node row. A volume that several nodes reach is on none of them. */
  readonly nodes: Occupied<number>;
  /** By the value of the zone label. A volume that several zones reach is in none of them. */
  readonly zones: Occupied<string>;
}

/** How many volumes are in each place. */
interface Occupied<Place> {
  readonly all: ReadonlyMap<Place, number>;
  readonly ofPod: ReadonlyMap<Place, number>;
}

export function placesOfSiblings(index: ClusterIndex, group: string, pod: PodRecord): OccupiedPlaces {
  const places = index.ownerPlaces.of(group);
  const nodes = new Map<number, number>();
  const zones = new Map<string, number>();
  for (const key of new Set(pod.claims.map((claim) => claim.key))) {
    const { node, zone } = places.placeOf(key);
    if (node !== undefined) nodes.set(node, (nodes.get(node) ?? 0) + 1);
    if (zone !== undefined) zones.set(zone, (zones.get(zone) ?? 0) + 1);
  }
  return { nodes: { all: places.nodes, ofPod: nodes }, zones: { all: places.zones, ofPod: zones } };
}

export function isOccupied<Place>({ all, ofPod }: Occupied<Place>, place: Place): boolean {
  const count = all.get(place);
  return count !== undefined && count > (ofPod.get(place) ?? 0);
}
