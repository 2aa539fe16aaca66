/** Tables of cases with the expected plan under both profiles: `stowage`, and `upstream` for kube-scheduler. */
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from './cluster.ts';
import { byName, pod } from './objects.ts';

export interface ProfileCase {
  readonly name: string;
  readonly cluster: ClusterObjects;
  /** The claims of the pod; `data` by default. */
  readonly claims?: readonly string[];
  readonly stowage: PlanOutcome;
  /** The same as `stowage` by default. */
  readonly upstream?: PlanOutcome;
}

export function expectProfileCases(cases: readonly ProfileCase[]): void {
  test.each(byName(cases))('%s', (_, { cluster, claims = ['data'], stowage, upstream }) => {
    expectOutcomes(cluster, pod('p', claims), stowage, upstream);
  });
}

export function expectOutcomes(
  objects: ClusterObjects,
  target: Pod,
  stowage: PlanOutcome,
  upstream: PlanOutcome = stowage,
): void {
  expect(planOutcome(clusterOf(objects, stowageProfile), target)).toEqual(stowage);
  expect(planOutcome(clusterOf(objects, upstreamProfile), target)).toEqual(upstream);
}
