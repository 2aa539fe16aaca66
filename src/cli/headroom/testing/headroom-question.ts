import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { pods, statefulSets } from '../../../kube/resources.ts';
import { measureRoom } from '../../../queries/headroom/measure.ts';
import { seededRandom } from '../../../runtime/random.ts';
import type { RandomWorkloads } from '../../plan/testing/random-workloads.ts';
import { loadCluster } from '../../source/load-cluster.ts';

/** The counted objects: claims of a class and size, or replicas of a StatefulSet. */
export type HeadroomQuestion =
  | { readonly kind: 'class'; readonly storageClass: string; readonly gib: number }
  | { readonly kind: 'like'; readonly name: string; readonly replicas: number };

/** A set is part of a question only if all of its members have a node, and if it does not evict others: headroom counts what fits beside them. */
export async function randomQuestion(
  { fixture, storage }: RandomWorkloads,
  seed: string,
): Promise<HeadroomQuestion> {
  const random = seededRandom(seed);
  const { items: sets } = await fixture.cluster.resource(statefulSets).list();
  const { items } = await fixture.cluster.resource(pods).list();
  const usable = sets.filter(({ metadata, spec }) => {
    const own = items.filter((pod) => pod.metadata?.ownerReferences?.[0]?.name === metadata?.name);
    const isPlaced = own.length === spec?.replicas && own.every((pod) => pod.spec?.nodeName !== undefined);
    return isPlaced && spec?.template?.spec?.priorityClassName === undefined;
  });
  if (usable.length > 0 && random.next() < 0.6) {
    const { metadata, spec } = random.pick(usable);
    return { kind: 'like', name: metadata!.name!, replicas: spec?.replicas ?? 1 };
  }
  return { kind: 'class', storageClass: random.pick(storage.classes), gib: random.pick([1, 3, 4]) };
}

/** The answer of `stowage headroom` now. */
export async function measureAgain(
  { fixture }: RandomWorkloads,
  question: HeadroomQuestion,
): Promise<number> {
  const options = { server: 'the test', source: 'the test', onProgress: () => {} };
  const view = await loadCluster(fixture.cluster, { namespace }, options);
  const nowMs = fixture.environment.clock.nowMs();
  const gib = question.kind === 'class' ? question.gib : 1;
  const size = { text: `${gib}Gi`, bytes: gib * 2 ** 30 };
  const asked =
    question.kind === 'class'
      ? { storageClass: question.storageClass }
      : { like: { kind: 'StatefulSet', namespace, name: question.name } as const };
  const [row] = measureRoom(view, { nowMs, profile: 'stowage', size, ...asked }).rows;
  return row!.count;
}

/** Creates the further ones, and returns how many of all that were created have a node. */
export async function countMore(
  { fixture }: RandomWorkloads,
  question: HeadroomQuestion,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  const { cluster } = fixture;
  if (question.kind === 'like') {
    const body = { spec: { replicas: question.replicas + to } };
    await cluster.resource(statefulSets).patch({ namespace, name: question.name }, { type: 'merge', body });
  } else
    for (let at = from; at < to; at += 1) {
      await fixture.claim(`more-${at}`, `${question.gib}Gi`, { storageClassName: question.storageClass });
      await fixture.pod(`more-${at}`, [`more-${at}`]);
    }
  await fixture.settle(10_000);
  const { items } = await cluster.resource(pods).list();
  const placed = items.filter(({ spec }) => spec?.nodeName !== undefined);
  if (question.kind === 'class')
    return placed.filter(({ metadata }) => metadata!.name!.startsWith('more-')).length;
  const own = placed.filter(({ metadata }) => metadata?.ownerReferences?.[0]?.name === question.name);
  return own.length - question.replicas;
}
