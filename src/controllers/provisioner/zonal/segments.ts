import type { Node, TopologySelectorTerm } from '../../../kube/api/core.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import { labels } from '../../../kube/well-known.ts';
import { lookUp } from '../../../kube/wire.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';

/**
 * A location for volumes: a zone, its region if known, and the values of further labels such as a rack.
 * Zones and regions have several label names; here they have one.
 */
export interface Segment {
  readonly zone: string;
  /** Empty if unknown. */
  readonly region: string;
  readonly further: StringMap;
}

/** The current name first. The plain ones are those of the examples in the original proposal. */
export const zoneKeys: readonly string[] = [labels.zone, labels.betaZone, 'zone'];
export const regionKeys: readonly string[] = [labels.region, labels.betaRegion, 'region'];
/** Further keys that a class need not mention. */
const furtherKeysKnown: readonly string[] = ['rack', 'topology.kubernetes.io/rack'];

/** The maximum of locations that one class may list; beyond that, the product of its values makes no sense. */
const listedMax = 10_000;

/** The topologies that a class allows, with one name for zone and one for region. */
export interface AllowedTopologies {
  readonly kind: 'allowed';
  /** ORed; undefined allows everything. */
  readonly terms: readonly AllowedTerm[] | undefined;
  /** The keys of all terms and of the class's parameters, besides zone and region. */
  readonly furtherKeys: readonly string[];
  /** Whether the class mentions regions, so that its volumes should, too. */
  readonly namesRegions: boolean;
}

/** ANDed; an undefined list allows any value. */
interface AllowedTerm {
  readonly zones: readonly string[] | undefined;
  readonly regions: readonly string[] | undefined;
  readonly further: Readonly<Record<string, readonly string[]>>;
}

export interface AllowedSource {
  readonly allowedTopologies: readonly TopologySelectorTerm[];
  readonly zones: readonly string[];
  readonly topologyKeys: readonly string[];
}

export function readAllowedTopologies({
  allowedTopologies,
  zones,
  topologyKeys,
}: AllowedSource): AllowedTopologies | RefusedOutcome {
  const keys = allowedTopologies.flatMap((term) =>
    (term.matchLabelExpressions ?? []).map(({ key }) => key ?? ''),
  );
  const further = keys.filter((key) => !zoneKeys.includes(key) && !regionKeys.includes(key));
  const unknown = further.find((key) => !furtherKeysKnown.includes(key) && !topologyKeys.includes(key));
  if (unknown !== undefined)
    return refusedOutcome(
      `unsupported key found in matchLabelExpressions: ${unknown}; if it is a label of nodes, add it to parameters.topologyKeys`,
    );
  const fromParameters = zones.length === 0 ? undefined : [{ zones, regions: undefined, further: {} }];
  const furtherKeys = [...new Set([...further, ...topologyKeys])].filter((key) => key !== '').sort();
  return {
    kind: 'allowed',
    terms: allowedTopologies.length === 0 ? fromParameters : allowedTopologies.flatMap(readTerm),
    furtherKeys,
    namesRegions: keys.some((key) => regionKeys.includes(key)),
  };
}

/** A term without expressions allows nothing. */
function readTerm({ matchLabelExpressions = [] }: TopologySelectorTerm): readonly AllowedTerm[] {
  if (matchLabelExpressions.length === 0) return [];
  const valuesOf = (keys: readonly string[]) => {
    const lists = matchLabelExpressions
      .filter(({ key = '' }) => keys.includes(key))
      .map(({ values = [] }) => values);
    return lists.length === 0 ? undefined : lists.reduce((a, b) => a.filter((value) => b.includes(value)));
  };
  const named = matchLabelExpressions.map(({ key = '', values = [] }) => [key, values] as const);
  const further = named.filter(([key]) => !zoneKeys.includes(key) && !regionKeys.includes(key));
  return [{ zones: valuesOf(zoneKeys), regions: valuesOf(regionKeys), further: Object.fromEntries(further) }];
}

/** Undefined if the node has no zone label. */
export function segmentOf({ metadata }: Node, furtherKeys: readonly string[]): Segment | undefined {
  const first = (keys: readonly string[]) =>
    keys.map((key) => lookUp(metadata?.labels, key)).find((value) => value !== undefined && value !== '');
  const zone = first(zoneKeys);
  if (zone === undefined) return undefined;
  const values = furtherKeys.map((key) => [key, lookUp(metadata?.labels, key)] as const);
  const further = Object.fromEntries(
    values.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return { zone, region: first(regionKeys) ?? '', further };
}

export function isAllowed({ zone, region, further }: Segment, { terms }: AllowedTopologies): boolean {
  if (terms === undefined) return true;
  return terms.some(
    (term) =>
      (term.zones?.includes(zone) ?? true) &&
      (term.regions?.includes(region) ?? true) &&
      Object.entries(term.further).every(([key, values]) => values.includes(lookUp(further, key) ?? '')),
  );
}

/** The allowed locations that have nodes, each once and in order. */
export function segmentsWithNodes(nodes: Iterable<Node>, allowed: AllowedTopologies): readonly Segment[] {
  const found: Segment[] = [];
  for (const node of nodes) {
    const segment = segmentOf(node, allowed.furtherKeys);
    // A location lacks a key only if the class's terms allow that.
    if (segment !== undefined && isAllowed(segment, allowed)) found.push(segment);
  }
  return distinctSegments(found);
}

/** The locations that the class lists zone by zone, whether or not they have nodes. */
export function listedSegments(
  { terms = [] }: AllowedTopologies,
  regionOf: (zone: string) => string,
): readonly Segment[] {
  const found: Segment[] = [];
  for (const { zones = [], regions = [], further } of terms) {
    for (const zone of zones) {
      const region = regionOf(zone) || (regions.length === 1 ? (regions[0] ?? '') : '');
      if (regions.length > 0 && !regions.includes(region)) continue;
      for (const values of productOf(further)) {
        if (found.length >= listedMax) return distinctSegments(found);
        found.push({ zone, region, further: values });
      }
    }
  }
  return distinctSegments(found);
}

function* productOf(further: Readonly<Record<string, readonly string[]>>): Generator<StringMap> {
  const [first, ...rest] = Object.entries(further);
  if (first === undefined) {
    yield {};
    return;
  }
  const [key, values] = first;
  for (const value of values)
    for (const others of productOf(Object.fromEntries(rest))) yield { [key]: value, ...others };
}

export function distinctSegments(segments: Iterable<Segment>): readonly Segment[] {
  const byName = new Map<string, Segment>();
  for (const segment of segments) byName.set(nameOf(segment), segment);
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, segment]) => segment);
}

function nameOf({ zone, region, further }: Segment): string {
  return JSON.stringify([region, zone, Object.entries(further).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
