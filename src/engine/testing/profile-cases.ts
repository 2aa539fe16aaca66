/** Tables of what a plan comes to under both profiles: Stowage's own, and the one that follows kube-scheduler. */
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from './cluster.ts';
import { byName, pod } from './objects.ts';

export interface ProfileCase {
  readonly name: string;
  readonly cluster: ClusterObjects;
  /** Of the pod; `data` unless told otherwise. */
  readonly claims?: readonly string[];
  readonly stowage: PlanOutcome;
  /** The same as `stowage` unless told otherwise. */
  readonly upstream?: PlanOutcome;
}

export function expectProfileCases(cases: readonly ProfileCase[]): void {
  test.each(byName(cases))('%s', (_, { cluster, claims = ['data'], stowage, upstream }) => {
    expectOutcomes(cluster, pod('p', claims), stowage, upstream);
  });
}

export function expectOutcomes(
  objects: ClusterObjects,
  asking: Pod,
  stowage: PlanOutcome,
  upstream: PlanOutcome = stowage,
): void {
  expect(planOutcome(clusterOf(objects, stowageProfile), asking)).toEqual(stowage);
  expect(planOutcome(clusterOf(objects, upstreamProfile), asking)).toEqual(upstream);
}
