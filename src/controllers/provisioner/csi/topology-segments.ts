import type { Node, TopologySelectorTerm } from '../../../kube/api/core.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import type { CSINode } from '../../../kube/api/storage.ts';
import { sortedKeys } from '../../../kube/sorted-keys.ts';
import { lookUp } from '../../../kube/wire.ts';

/** Labels with their values: where a volume of the driver can be. */
export type CsiSegment = StringMap;

/** More combinations than this are not sent; a class with so many is a mistake. */
const expandedMax = 10_000;

/** The keys that the driver registered on a node; undefined if it did not register. */
export function topologyKeysOf(csiNode: CSINode | undefined, driver: string): readonly string[] | undefined {
  const found = csiNode?.spec?.drivers?.find(({ name }) => name === driver);
  return found && [...(found.topologyKeys ?? [])].sort();
}

/** Undefined if the node has no value for one of the keys. */
export function csiSegmentOf(node: Node | undefined, keys: readonly string[]): CsiSegment | undefined {
  const entries = keys.map((key) => [key, lookUp(node?.metadata?.labels, key)] as const);
  return entries.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(entries) as CsiSegment)
    : undefined;
}

/** The segments of all nodes where the driver registered the same keys: each once, sorted. */
export function clusterSegments(
  keys: readonly string[],
  driver: string,
  csiNodes: Iterable<CSINode>,
  nodeNamed: (name: string) => Node | undefined,
): readonly CsiSegment[] {
  const wanted = keys.join();
  const found: CsiSegment[] = [];
  for (const csiNode of csiNodes) {
    if (topologyKeysOf(csiNode, driver)?.join() !== wanted) continue;
    const segment = csiSegmentOf(nodeNamed(csiNode.metadata?.name ?? ''), keys);
    if (segment !== undefined) found.push(segment);
  }
  return sortedSegments(found);
}

/** The allowed topologies with one value for each key: each combination once, sorted. */
export function allowedSegments(terms: readonly TopologySelectorTerm[]): readonly CsiSegment[] {
  return sortedSegments(
    terms.flatMap(({ matchLabelExpressions = [] }) => {
      let combined: CsiSegment[] = [{}];
      for (const { key = '', values = [] } of matchLabelExpressions) {
        combined = combined
          .flatMap((one) => values.map((value) => ({ ...one, [key]: value })))
          .slice(0, expandedMax);
      }
      return matchLabelExpressions.length === 0 ? [] : combined;
    }),
  );
}

/** Each once, in an order that depends only on the segments. */
export function sortedSegments(segments: readonly CsiSegment[]): readonly CsiSegment[] {
  const byText = new Map(segments.map((segment) => [csiSegmentText(segment), segment]));
  return sortedKeys(Object.fromEntries(byText)).map((text) => byText.get(text) as CsiSegment);
}

/** Equal for equal segments. */
export function csiSegmentText(segment: CsiSegment): string {
  return sortedKeys(segment)
    .map((key) => `${key}=${segment[key]}`)
    .join(',');
}

/** Whether `segment` has all labels of `part`. */
export function includesSegment(segment: CsiSegment, part: CsiSegment): boolean {
  return Object.entries(part).every(([key, value]) => segment[key] === value);
}
