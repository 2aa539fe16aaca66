/**
 * Soft affinity of volumes: weighted preferences for nodes that reach a volume better than others. It refuses no node. The score of a node
 * is the sum of the weights that the pod's volumes give it, scaled so that the best node has 100.
 */
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { matcherHolds } from '../../records/node-matcher.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import type { Cycle } from '../framework/cycle.ts';
import { type Prepared, type Rule, skip } from '../framework/rule.ts';

interface PreferenceState {
  readonly bound: readonly VolumeRecord[];
}

export const volumePreferenceRule: Rule<PreferenceState> = {
  name: 'VolumePreference',
  reasons: [],
  prepare: ({ index, pod }: Cycle): Prepared<PreferenceState> => {
    if (!index.profile.scoresPreferences || !index.volumes.hasPreferences) return skip;
    // Only other pods' volumes have preferences: a pod without volumes must not pay for them.
    if (pod.claims.length === 0) return skip;
    const bound = pod.claims.flatMap(
      ({ key }) => index.volumes.get(index.claims.get(key)?.volumeName ?? '') ?? [],
    );
    return { kind: 'ready', state: { bound } };
  },
  filter: () => {},
  score: { weight: 1, run: scorePreferences },
  explain: () => [],
  wakes: () => false,
  invalidates: (interest, change) =>
    change.kind === 'Node' ||
    (change.kind === 'PersistentVolume' && interest.volumeNames.has((change.after ?? change.before)!.key)),
};

function scorePreferences({ bound }: PreferenceState, cycle: Cycle, scores: Float64Array): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  let most = 0;
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const chosen = cycle.chosenVolumes?.volumesAt(node).map((row) => cycle.index.volumes.record(row)) ?? [];
    scores[node] = weightAt(cycle.index, [...bound, ...chosen], node);
    most = Math.max(most, scores[node]);
  }
  if (most === 0) return;
  for (let position = 0; position < count; position++) scores[nodes[position]!]! *= 100 / most;
}

function weightAt(index: ClusterIndex, volumes: readonly VolumeRecord[], node: number): number {
  const { key, labels } = index.nodes.record(node)!;
  let weight = 0;
  for (const volume of volumes) {
    for (const preference of volume.preferredNodes) {
      if (matcherHolds(preference.nodes, key, labels)) weight += preference.weight;
    }
  }
  return weight;
}
