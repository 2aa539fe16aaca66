import { sortedKeys } from '../../kube/sorted-keys.ts';

/** The labels of the nodes that reach a pool. Without labels it is the whole cluster. */
export type TopologySegment = Readonly<Record<string, string>>;

/** Equal for equal segments, whatever the order of their labels. */
export function segmentKeyOf(segment: TopologySegment): string {
  return JSON.stringify(sortedKeys(segment).map((key) => [key, segment[key]]));
}

/** The inverse of {@link segmentKeyOf}. */
export function segmentOfKey(key: string): TopologySegment {
  return Object.fromEntries(JSON.parse(key) as [string, string][]);
}

/** The segment in messages: `topology.example.com/zone=a`. */
export function segmentText(segment: TopologySegment): string {
  const labels = sortedKeys(segment).map((key) => `${key}=${segment[key]}`);
  return labels.length === 0 ? 'the whole cluster' : labels.join(',');
}
