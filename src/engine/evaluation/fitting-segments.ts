import { lookUp } from '../../kube/wire.ts';
import { noDomain } from '../cluster-index/nodes/domain-table.ts';
import type { NodeRow } from '../cluster-index/nodes/node-table.ts';
import type { Cycle } from '../rules/framework/cycle.ts';
import type { Decisions, Provision, VolumeSegment } from '../rules/framework/decisions.ts';

/** The segments are written on the claim, and every watcher of claims receives them. A driver that gets this many can choose. */
const segmentsMax = 16;

/**
 * Adds to each new volume the topology segments where the driver may create it: those with a node that fits the pod. Elsewhere the pod could
 * never run. The segment of the chosen node is the first.
 *
 * A driver chooses a segment for each volume separately. So if the pod gets several volumes, only the segment of the chosen node is
 * certain to fit all of them.
 */
export function withFittingSegments(decisions: Decisions, cycle: Cycle, node: NodeRow): Decisions {
  const { bindings, provisions } = decisions;
  if (provisions.length === 0) return decisions;
  const isOnly = bindings.length + provisions.length === 1;
  return {
    ...decisions,
    provisions: provisions.map((provision) => {
      const segments = segmentsFor(provision, cycle, node, isOnly ? segmentsMax : 1);
      return segments === undefined ? provision : { ...provision, fittingSegments: segments };
    }),
  };
}

/** Undefined for a drive, which is on one node, and for drivers without topology on the node. */
function segmentsFor(
  { driver, pool }: Provision,
  cycle: Cycle,
  node: NodeRow,
  max: number,
): readonly VolumeSegment[] | undefined {
  const { nodes } = cycle.index;
  const keys = pool?.isDrive === true ? [] : (nodes.driversOfRow(node)?.topologyKeys.get(driver) ?? []);
  const own = keys.length === 0 ? undefined : segmentOf(cycle, node, keys);
  if (own === undefined || max === 1) return own && [own];
  const found = new Map([[textOf(own), own]]);
  const { rows, count } = cycle.feasibleRows();
  // Most drivers have one key. Then nodes that add no segment are skipped without reading their labels.
  const domains = keys.length === 1 ? cycle.index.relations.domains.of(keys[0]!) : undefined;
  const seen = new Uint8Array(domains?.count ?? 0);
  for (let at = 0; at < count && found.size < max; at++) {
    const row = rows[at]!;
    const domain = domains?.of[row] ?? noDomain;
    if (domain !== noDomain && seen[domain] === 1) continue;
    const segment = segmentOf(cycle, row, keys);
    if (segment === undefined || !isSame(nodes.driversOfRow(row)?.topologyKeys.get(driver), keys)) continue;
    if (domain !== noDomain) seen[domain] = 1;
    found.set(textOf(segment), segment);
  }
  return [...found.values()];
}

/** Undefined if the node lacks one of the labels. */
function segmentOf(cycle: Cycle, row: number, keys: readonly string[]): VolumeSegment | undefined {
  const labels = cycle.index.nodes.record(row)?.labels;
  const entries = keys.map((key) => [key, lookUp(labels, key)] as const);
  return entries.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(entries) as VolumeSegment)
    : undefined;
}

function textOf(segment: VolumeSegment): string {
  return JSON.stringify(segment);
}

function isSame(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a === b || (a !== undefined && a.length === b.length && a.every((key, at) => key === b[at]));
}
