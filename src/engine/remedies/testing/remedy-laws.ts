import fc from 'fast-check';
import { expect } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { IndexedKind } from '../../cluster-index/cluster-change.ts';
import type { Profile } from '../../cluster-index/profile.ts';
import { indexKeyOf, type ObjectOf } from '../../cluster-index/read-object.ts';
import { plan } from '../../plan.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { randomNowMs as nowMs } from '../../testing/random/cluster.ts';
import { arbFullCluster } from '../../testing/random/full-cluster.ts';
import { findRemedies, type RemedySearch } from '../find-remedies.ts';
import type { Remedy } from '../remedy-collection.ts';
import type { ObjectSource, RemedyStep } from '../remedy-step.ts';

/**
 * Checks that each remedy for a random pod in a random cluster makes the pod fit in a new cluster with the changes, and that no smaller
 * remedy of the same kind does.
 */
export function expectRemediesToHold(profile: Profile, numRuns: number): void {
  let seen = 0;
  let compared = 0;
  const check = ({ objects, pod }: { readonly objects: ClusterObjects; readonly pod: Pod }) => {
    const { remedies } = searchIn(objects, pod, profile) ?? { remedies: [] };
    seen += remedies.length;
    for (const remedy of remedies) {
      expect(fitsWith(objects, pod, profile, remedy.steps)).toBe(true);
      for (const smaller of smallerOnes(remedy, objects)) {
        compared += 1;
        expect(fitsWith(objects, pod, profile, smaller)).toBe(false);
      }
    }
  };
  fc.assert(fc.property(arbFullCluster, check), { numRuns });
  expect(seen).toBeGreaterThan(numRuns / 4);
  expect(compared).toBeGreaterThan(numRuns / 4);
}

/** Checks that the search leaves the index as it was. */
export function expectIndexToStay(profile: Profile, numRuns: number): void {
  const check = ({ objects, pod }: { readonly objects: ClusterObjects; readonly pod: Pod }) => {
    const index = clusterOf(objects, profile);
    const before = plan(pod, index, { nowMs });
    if (before.kind === 'placement') return;
    findRemedies(pod, index, before.explain().nodes, { nowMs, objects: objectSourceOf(objects) });
    expect(plan(pod, index, { nowMs })).toMatchObject({ kind: 'refusal', message: before.message });
  };
  fc.assert(fc.property(arbFullCluster, check), { numRuns });
}

export function searchIn(objects: ClusterObjects, pod: Pod, profile: Profile): RemedySearch | undefined {
  const index = clusterOf(objects, profile);
  const answer = plan(pod, index, { nowMs });
  if (answer.kind === 'placement') return undefined;
  return findRemedies(pod, index, answer.explain().nodes, {
    nowMs,
    objects: objectSourceOf(objects),
    remediesMax: 20,
  });
}

export function objectSourceOf(objects: ClusterObjects): ObjectSource {
  return {
    get: <K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined =>
      (objects[kind] as readonly ObjectOf[K][] | undefined)?.find(
        (object) => indexKeyOf(kind, object) === key,
      ),
  };
}

/** Uses changed objects and a new index instead of savepoints. */
function fitsWith(
  objects: ClusterObjects,
  pod: Pod,
  profile: Profile,
  steps: readonly RemedyStep[],
): boolean {
  let changedPod = pod;
  const lists: Partial<Record<IndexedKind, ObjectOf[IndexedKind][]>> = Object.fromEntries(
    Object.entries(objects).map(([kind, list]) => [kind, [...list]]),
  );
  for (const edit of steps.flatMap(({ edits }) => edits)) {
    switch (edit.type) {
      case 'create':
        lists[edit.kind] = [
          ...(lists[edit.kind] ?? []).filter(
            (known) => indexKeyOf(edit.kind, known) !== indexKeyOf(edit.kind, edit.object),
          ),
          edit.object,
        ];
        break;
      case 'change':
        lists[edit.kind] = (lists[edit.kind] ?? []).map((known) =>
          indexKeyOf(edit.kind, known) === edit.key ? edit.change(known) : known,
        );
        break;
      case 'remove pod':
        lists.Pod = (lists.Pod ?? []).filter((known) => indexKeyOf('Pod', known) !== edit.key);
        break;
      case 'change pod':
        changedPod = edit.change(changedPod);
        break;
    }
  }
  return plan(changedPod, clusterOf(lists as ClusterObjects, profile), { nowMs }).kind === 'placement';
}

/** The steps with an amount smaller by one; for several removed pods, each pod alone and all except one. */
function smallerOnes({ steps }: Remedy, objects: ClusterObjects): RemedyStep[][] {
  return steps.flatMap((step, at) => {
    const others = (other: RemedyStep) => steps.map((known, position) => (position === at ? other : known));
    if (step.withAmount !== undefined && step.amount > 1) return [others(step.withAmount(step.amount - 1))];
    if (step.action !== 'RemovePods' || steps.length > 1 || step.names.length < 2) return [];
    const removing = (keys: readonly string[]): RemedyStep => ({
      ...step,
      edits: keys.map((key) => ({ type: 'remove pod', key })),
    });
    const standing = (objects.Pod ?? []).flatMap((pod) => indexKeyOf('Pod', pod) ?? []);
    return [
      ...standing.map((key) => [removing([key])]),
      ...step.names.map((left) => [removing(step.names.filter((key) => key !== left))]),
    ];
  });
}
