/**
 * The prediction is what happens, in random clusters. To try more of them, or others:
 *
 *     PLAN_CLUSTERS=5000 PLAN_SEED=mine npx vitest run src/cli/plan/agreement.property.test.ts
 */
import { expect, test } from 'vitest';
import { namespace } from '../../controllers/scheduler/testing/scheduler-fixture.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { predict } from '../../engine/what-if/predict.ts';
import type { Prediction } from '../../engine/what-if/prediction.ts';
import type { Pod } from '../../kube/api/core.ts';
import { isFinished } from '../../kube/pods.ts';
import { pods } from '../../kube/resources.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { highPriority, RandomWorkloads } from './testing/random-workloads.ts';

const clusters = Number(process.env.PLAN_CLUSTERS ?? 6);
const seed = process.env.PLAN_SEED ?? 'plan';
const clustersPerTest = 20;

/** Where pods are: by name, and for pods with random names all nodes of their controller. */
type Places = ReadonlyMap<string, readonly string[]>;

function placesOf(
  all: readonly { readonly pod: string; readonly owner: string; readonly node: string }[],
): Places {
  const places = new Map<string, string[]>();
  for (const { pod, owner, node } of all) {
    const key = owner.startsWith('ReplicaSet/') ? owner : pod;
    places.set(key, [...(places.get(key) ?? []), node].sort());
  }
  return new Map([...places].sort());
}

function ownerOf({ metadata }: Pod): string {
  const [owner] = metadata?.ownerReferences ?? [];
  return owner === undefined ? '' : `${owner.kind}/${owner.name}`;
}

function placesNow(all: Iterable<Pod>): Places {
  return placesOf(
    [...all]
      .filter((pod) => !isFinished(pod))
      .map((pod) => ({
        pod: `${namespace}/${pod.metadata!.name}`,
        owner: ownerOf(pod),
        node: pod.spec?.nodeName ?? 'none',
      })),
  );
}

function placesPredicted(before: Iterable<Pod>, { fates }: Prediction): Places {
  const fateOf = new Map(fates.map((fate) => [fate.pod, fate]));
  const kept = [...before]
    .filter((pod) => !isFinished(pod))
    .map((pod) => ({
      pod: `${namespace}/${pod.metadata!.name}`,
      owner: ownerOf(pod),
      node: pod.spec?.nodeName ?? 'none',
    }))
    .filter(({ pod }) => !fateOf.has(pod));
  const affected = fates
    .filter(({ outcome }) => outcome !== 'lost' && outcome !== 'removed')
    .filter(({ why }) => !why?.message.includes('OrderedReady'))
    .map(({ pod, owner, to }) => ({ pod, owner, node: to ?? 'none' }));
  return placesOf([...kept, ...affected]);
}

/** The uids that the API server gave to new pods: ties are broken by them, and no prediction can know them. */
function uidsOf(created: readonly Pod[]): (pod: Pod) => string {
  const left = [...created];
  return (pod) => {
    const at = left.findIndex((other) =>
      ownerOf(pod).startsWith('ReplicaSet/')
        ? ownerOf(other) === ownerOf(pod)
        : other.metadata?.name === pod.metadata?.name,
    );
    return at < 0 ? 'unknown' : left.splice(at, 1)[0]!.metadata!.uid!;
  };
}

async function agree(workloads: RandomWorkloads): Promise<readonly string[]> {
  const { cluster, environment } = workloads.fixture;
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const { snapshot } = await loadCluster(cluster, { namespace }, options);
  const nowMs = environment.clock.nowMs();
  const changes = workloads.changes();
  const known = workloads.createdPods.length;
  const newPods = () => workloads.createdPods.slice(known);
  await workloads.apply(changes);
  const { items } = await cluster.resource(pods).list();
  const { index } = snapshot.toIndex(stowageProfile);
  const prediction = predict(changes, index, snapshot, {
    nowMs,
    priorityClasses: [highPriority],
    uidOf: uidsOf(newPods()),
  });
  const detail = JSON.stringify({
    changes,
    fates: prediction.fates.map(({ pod, outcome }) => [pod, outcome]),
  });
  expect(placesPredicted(snapshot.values('Pod'), prediction), detail).toEqual(placesNow(items));
  return prediction.fates.map(({ outcome }) => outcome);
}

const starts = Array.from({ length: Math.ceil(clusters / clustersPerTest) }, (_, at) => at * clustersPerTest);

test.each(starts)('the prediction is what happens, in clusters from %s', async (start) => {
  const outcomes = new Set<string>();
  for (let at = start; at < Math.min(start + clustersPerTest, clusters); at += 1) {
    await using workloads = await RandomWorkloads.start(`${seed} ${at}`);
    try {
      for (const outcome of await agree(workloads)) outcomes.add(outcome);
    } catch (error) {
      throw new Error(`cluster ${seed} ${at}: ${(error as Error).message}`, { cause: error });
    }
  }
  // The clusters must exercise every case, or the test proves little.
  if (clusters >= clustersPerTest)
    expect([...outcomes]).toEqual(expect.arrayContaining(['moved', 'stranded', 'placed']));
});
