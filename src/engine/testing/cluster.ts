import type { Pod } from '../../kube/api/core.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type Profile, stowageProfile } from '../cluster-index/profile.ts';
import type { ObjectOf } from '../cluster-index/read-object.ts';
import { type Placement, plan } from '../plan.ts';
import { volumeRules } from '../rules/volume-rules.ts';

/** The objects of a cluster, by kind. Kinds and lists are added to the index in this order. */
export type ClusterObjects = { readonly [K in IndexedKind]?: readonly ObjectOf[K][] };

/** The kinds that the volume rules read, except Drive, which has tests of its own. */
export type StorageKind = Exclude<
  IndexedKind,
  'DeviceClass' | 'Namespace' | 'Service' | 'ReplicationController' | 'ReplicaSet' | 'StatefulSet' | 'Drive'
>;

export function clusterOf(objects: ClusterObjects, profile: Profile = stowageProfile): ClusterIndex {
  const index = new ClusterIndex(profile);
  for (const kind of Object.keys(objects) as IndexedKind[]) {
    for (const object of objects[kind] ?? []) index.upsert(kind, object as never);
  }
  return index;
}

/** The result of a plan in a short form for tables of expectations. */
export type PlanOutcome =
  | {
      readonly node: string;
      readonly volumes: Record<string, string>;
      readonly pools: Record<string, string>;
    }
  | { readonly message: string };

/** The result of the volume rules alone. Claims are named without their namespace. A claim with a new volume from no known pool has the pool `new`. */
export function planOutcome(index: ClusterIndex, pod: Pod, nowMs = 0): PlanOutcome {
  const answer = plan(pod, index, { nowMs, rules: volumeRules });
  return answer.kind === 'placement' ? summarize(answer) : { message: answer.message };
}

function summarize(placement: Placement): PlanOutcome {
  const short = (key: string) => key.replace(/^default\//, '');
  return {
    node: placement.node,
    volumes: Object.fromEntries(placement.bindings.map(({ claim, volume }) => [short(claim), volume])),
    pools: Object.fromEntries([
      ...placement.provisions.map(({ claim, pool }) => [short(claim), pool?.name ?? 'new']),
      ...placement.inlineVolumes.map(({ volume, pool }) => [short(volume), pool.name]),
    ]),
  };
}
