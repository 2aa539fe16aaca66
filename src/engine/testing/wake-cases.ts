/** Tables of events that should wake a refused pod, and of events that should not. */
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { Profile } from '../cluster-index/profile.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { expectRefusal } from './expect-plan.ts';
import type { IndexEvent } from './index-events.ts';
import { byName, node, pod } from './objects.ts';

/** A refused pod, an event, and whether the event should wake the pod. */
export interface WakeCase {
  readonly name: string;
  /** Has a node `n1` by default. */
  readonly cluster: ClusterObjects;
  /** A pod with the claim `data` by default. */
  readonly pod?: Pod;
  readonly profile?: Profile;
  readonly event: IndexEvent;
  readonly wakes: boolean;
}

export function expectWakeCases(cases: readonly WakeCase[]): void {
  test.each(byName(cases))(
    '%s',
    (_, { cluster, pod: target = pod('p', ['data']), profile, event, wakes }) => {
      const index = clusterOf({ Node: [node('n1')], ...cluster }, profile);
      const refusal = expectRefusal(index, target);
      const change = event(index);
      expect(change !== undefined && refusal.wokenBy(change)).toBe(wakes);
      // An event that makes the pod fit must always wake it.
      if (!wakes) expect(plan(target, index, { nowMs: 0 }).kind).toBe('refusal');
    },
  );
}
