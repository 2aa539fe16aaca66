import type { Node, NodeSelectorRequirement, VolumeNodeAffinity } from '../../../kube/api/core.ts';
import { lookUp } from '../../../kube/wire.ts';
import { regionKeys, type Segment, segmentOf, zoneKeys } from './segments.ts';

export interface AffinityOptions {
  readonly nodes: readonly Node[];
  /** Its label names for zone and region are used, if there is one. */
  readonly selectedNode: Node | undefined;
  /** Whether the class mentions regions. */
  readonly namesRegions: boolean;
}

/**
 * The nodes that can reach a volume in these locations. Locations that differ only in their zone are one term with several
 * zones. The region is included if the class mentions regions, and if zones of different regions have the same name.
 */
export function affinityOf(segments: readonly Segment[], options: AffinityOptions): VolumeNodeAffinity {
  const labelledNodes = options.selectedNode === undefined ? options.nodes : [options.selectedNode];
  const keys = { zone: keyInUse(zoneKeys, labelledNodes), region: keyInUse(regionKeys, labelledNodes) };
  const merged = new Map<string, Segment[]>();
  for (const segment of segments) {
    const others = JSON.stringify([segment.region, Object.entries(segment.further)]);
    merged.set(others, [...(merged.get(others) ?? []), segment]);
  }
  const nodeSelectorTerms = [...merged.values()].map((group) => ({
    matchExpressions: requirementsOf(group, keys, options),
  }));
  return { required: { nodeSelectorTerms } };
}

function requirementsOf(
  group: readonly Segment[],
  keys: { readonly zone: string; readonly region: string },
  { nodes, namesRegions }: AffinityOptions,
): readonly NodeSelectorRequirement[] {
  const [{ region, further } = { region: '', further: {} }] = group;
  const zones = group.map(({ zone }) => zone);
  const needsRegion = region !== '' && (namesRegions || isInOtherRegion(zones, region, nodes));
  return [
    isIn(keys.zone, [...zones].sort()),
    ...(needsRegion ? [isIn(keys.region, [region])] : []),
    ...Object.entries(further).map(([key, value]) => isIn(key, [value])),
  ];
}

function isInOtherRegion(zones: readonly string[], region: string, nodes: readonly Node[]): boolean {
  return nodes.some((node) => {
    const segment = segmentOf(node, []);
    return segment !== undefined && zones.includes(segment.zone) && segment.region !== region;
  });
}

/** The label name that nodes use; the current one if none does. */
function keyInUse(names: readonly string[], nodes: readonly Node[]): string {
  const used = names.find((key) => nodes.some(({ metadata }) => lookUp(metadata?.labels, key) !== undefined));
  return used ?? names[0] ?? '';
}

function isIn(key: string, values: readonly string[]): NodeSelectorRequirement {
  return { key, operator: 'In', values };
}
