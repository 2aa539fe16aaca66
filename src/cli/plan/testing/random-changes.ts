import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { WhatIfChange } from '../../../engine/what-if/change.ts';
import type { Deployment, ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Random } from '../../../runtime/random.ts';
import type { RandomPods } from './random-pods.ts';

/** The objects that may be changed. */
export interface ChangeableCluster {
  readonly nodes: readonly string[];
  readonly drives: readonly string[];
  readonly hasDrives: boolean;
  readonly sets: readonly StatefulSet[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly deployments: readonly Deployment[];
}

const gib = 2 ** 30;

/** One to three changes that concern what there is. */
export function randomChanges(
  random: Random,
  pods: RandomPods,
  there: ChangeableCluster,
): readonly WhatIfChange[] {
  const count = random.pick([1, 1, 2, 3]);
  const drawn = Array.from({ length: count }, () => randomChange(random, pods, there));
  // A workload has the replicas that were asked for last.
  const nameOf = (change: WhatIfChange) => (change.kind === 'scale' ? change.workload.name : undefined);
  return drawn.filter(
    (change, at) =>
      change.kind !== 'scale' || !drawn.slice(at + 1).some((later) => nameOf(later) === nameOf(change)),
  );
}

function randomChange(random: Random, pods: RandomPods, there: ChangeableCluster): WhatIfChange {
  const scalable = [
    ...there.sets.map(({ metadata }) => ['StatefulSet', metadata!.name!] as const),
    ...there.replicaSets.map(({ metadata }) => ['ReplicaSet', metadata!.name!] as const),
    ...there.deployments.map(({ metadata }) => ['Deployment', metadata!.name!] as const),
  ];
  const templated = [...there.sets, ...there.deployments];
  const kinds: readonly ('drain' | 'apply' | 'nodes' | 'scale' | 'template' | 'drain-drive' | 'drive')[] = [
    'drain',
    'drain',
    'drain',
    'apply',
    'apply',
    'nodes',
    ...(scalable.length > 0 ? (['scale', 'scale', 'scale'] as const) : []),
    ...(templated.length > 0 ? (['template', 'template', 'template'] as const) : []),
    ...(there.drives.length > 0 ? (['drain-drive', 'drain-drive', 'drain-drive'] as const) : []),
    ...(there.hasDrives ? (['drive'] as const) : []),
  ];
  switch (random.pick(kinds)) {
    case 'drain':
      return { kind: 'drain-node', node: random.pick(there.nodes) };
    case 'nodes':
      return { kind: 'add-nodes', count: 1 + random.int(2), like: random.pick(there.nodes) };
    case 'scale': {
      const [kind, name] = random.pick(scalable);
      return { kind: 'scale', workload: { kind, namespace, name }, replicas: 1 + random.int(5) };
    }
    case 'template':
      return { kind: 'apply', objects: [pods.changed(random.pick(templated))] };
    case 'drain-drive':
      return { kind: 'drain-drive', drive: random.pick(there.drives) };
    case 'drive': {
      const bytes = random.pick([2, 5, 9]) * gib;
      return { kind: 'add-drive', node: random.pick(there.nodes), bytes, tier: undefined };
    }
    case 'apply':
      return { kind: 'apply', objects: appliedObjects(random, pods) };
  }
}

/** As a file has them, in the order of `--apply`: what pods refer to comes first. */
function appliedObjects(random: Random, pods: RandomPods): readonly KubeObject[] {
  const draw = (): readonly KubeObject[] => {
    switch (random.pick(['pod', 'claim', 'set', 'deployment', 'job'])) {
      case 'pod':
        return [pods.barePod()];
      case 'claim':
        return pods.podWithClaim();
      case 'set':
        return [pods.statefulSet()];
      case 'job':
        return [pods.job()];
      default:
        return [pods.deployment()];
    }
  };
  const objects = [...draw(), ...(random.next() < 0.3 ? draw() : [])];
  const rank = ({ kind }: KubeObject) => Number(kind !== 'PersistentVolumeClaim');
  return objects.toSorted((a, b) => rank(a) - rank(b));
}
