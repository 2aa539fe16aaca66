import type { Node } from '../../../kube/api/core.ts';
import { assert } from '../../../runtime/assert.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';
import type { SpreadPosition } from '../spread.ts';
import {
  type AllowedTopologies,
  distinctSegments,
  isAllowed,
  listedSegments,
  type Segment,
  segmentOf,
  segmentsWithNodes,
  zoneKeys,
} from './segments.ts';

export interface SegmentRequest {
  readonly allowed: AllowedTopologies;
  readonly zonesPerVolume: 1 | 2;
  readonly selectedNode: Node | undefined;
  readonly nodes: readonly Node[];
  readonly spread: SpreadPosition;
}

export type SegmentChoice =
  | { readonly kind: 'chosen'; readonly segments: readonly Segment[] }
  | RefusedOutcome;

/**
 * Chooses the locations of a volume. With a selected node, the first is the node's. Otherwise it is the next in turn among the allowed zones
 * that have nodes; only if none of them has nodes, among all that the class lists. The second is
 * another zone of the same region.
 */
export function chooseSegments(request: SegmentRequest): SegmentChoice {
  const { allowed, selectedNode, zonesPerVolume } = request;
  if (selectedNode === undefined) return withoutNode(request);
  const name = selectedNode.metadata?.name ?? '';
  const own = segmentOf(selectedNode, allowed.furtherKeys);
  if (own === undefined)
    return refusedOutcome(`node "${name}" has no label ${zoneKeys[0]}; label it with its zone`);
  if (!isAllowed(own, allowed))
    return refusedOutcome(
      `node "${name}" in zone "${own.zone}" is not among the topologies that the class allows; kube-scheduler honours allowedTopologies, but not the parameters zone and zones`,
    );
  return zonesPerVolume === 1 ? { kind: 'chosen', segments: [own] } : withPartner(own, request);
}

function withPartner(own: Segment, request: SegmentRequest): SegmentChoice {
  const { hash, ordinal } = request.spread;
  const secondLocations = withEnough(request, 1, (locations) => secondLocationsOf(own, locations));
  const zone = pick(zonesOf(secondLocations), hash + ordinal);
  if (zone === undefined) return tooFew(candidates(request));
  return { kind: 'chosen', segments: [own, inZone(secondLocations, zone, hash)] };
}

function secondLocationsOf(own: Segment, locations: readonly Segment[]): readonly Segment[] {
  return locations.filter(({ zone, region }) => zone !== own.zone && region === own.region);
}

function withoutNode(request: SegmentRequest): SegmentChoice {
  const { zonesPerVolume, spread } = request;
  const locations = withEnough(request, zonesPerVolume, (all) => bestRegion(all, request));
  const zones = zonesOf(locations);
  const [first, second] = [0, 1].map((offset) =>
    pick(zones, spread.hash + spread.ordinal * zonesPerVolume + offset),
  );
  if (first === undefined || second === undefined) return nowhere(request);
  if (zonesPerVolume === 1) return { kind: 'chosen', segments: [inZone(locations, first, spread.hash)] };
  if (zones.length < 2) return tooFew(candidates(request));
  return { kind: 'chosen', segments: [first, second].map((zone) => inZone(locations, zone, spread.hash)) };
}

/** For a volume in two zones, the locations of one region that has two; if several have, the group's own. */
function bestRegion(
  locations: readonly Segment[],
  { zonesPerVolume, spread }: SegmentRequest,
): readonly Segment[] {
  if (zonesPerVolume === 1) return locations;
  const regions = [...new Set(locations.map(({ region }) => region))].sort();
  const able = regions.filter(
    (region) => zonesOf(locations.filter((place) => place.region === region)).length > 1,
  );
  const region = pick(able, spread.hash);
  return region === undefined ? [] : locations.filter((place) => place.region === region);
}

/** First where nodes are; if that is not enough, wherever the class allows. */
function withEnough(
  request: SegmentRequest,
  zonesNeeded: number,
  narrow: (locations: readonly Segment[]) => readonly Segment[],
): readonly Segment[] {
  const near = narrow(segmentsWithNodes(request.nodes, request.allowed));
  return zonesOf(near).length >= zonesNeeded ? near : narrow(candidates(request));
}

function candidates({ nodes, allowed }: SegmentRequest): readonly Segment[] {
  const regions = new Map<string, string>();
  for (const node of nodes) {
    const segment = segmentOf(node, []);
    if (segment !== undefined && segment.region !== '') regions.set(segment.zone, segment.region);
  }
  const known = segmentsWithNodes(nodes, allowed);
  const seen = new Set(known.map(({ zone }) => zone));
  const more = listedSegments(allowed, (zone) => regions.get(zone) ?? '').filter(
    ({ zone }) => !seen.has(zone),
  );
  return distinctSegments([...known, ...more]);
}

function inZone(locations: readonly Segment[], zone: string, hash: number): Segment {
  const within = locations.filter((place) => place.zone === zone);
  const chosen = pick(within, hash);
  assert(chosen !== undefined, `zone ${zone} was chosen, but no location is in it`);
  return chosen;
}

function zonesOf(locations: readonly Segment[]): readonly string[] {
  return [...new Set(locations.map(({ zone }) => zone))].sort();
}

function pick<T>(items: readonly T[], turn: number): T | undefined {
  return items[turn % items.length];
}

function nowhere(request: SegmentRequest): RefusedOutcome {
  if (request.zonesPerVolume === 2) return tooFew(candidates(request));
  if (request.allowed.terms === undefined)
    return refusedOutcome(
      `cannot determine zones to provision volume in: no node has a label ${zoneKeys[0]}`,
    );
  return refusedOutcome(
    'no matching zones found in allowedTopologies; allow a zone that nodes have, or label nodes with an allowed zone',
  );
}

function tooFew(locations: readonly Segment[]): RefusedOutcome {
  const byRegion = new Map<string, string[]>();
  for (const { region, zone } of locations) {
    const zones = byRegion.get(region) ?? [];
    if (!zones.includes(zone)) byRegion.set(region, [...zones, zone]);
  }
  const found = [...byRegion].map(([region, zones]) => `${region || 'no known region'}: ${zones.join(', ')}`);
  return refusedOutcome(
    `a volume in two zones needs two allowed zones of one region, but there are ${found.join('; ') || 'none'}; allow another zone, or remove replication`,
  );
}
