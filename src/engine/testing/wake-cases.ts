/** Tables of what should make a refused pod be looked at again, and of what should not. */
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { Profile } from '../cluster-index/profile.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { expectRefusal } from './expect-plan.ts';
import type { IndexEvent } from './index-events.ts';
import { byName, node, pod } from './objects.ts';

/** A pod that is refused, something that happens, and whether the pod should be looked at again. */
export interface WakeCase {
  readonly name: string;
  /** Has a node `n1` unless it says otherwise. */
  readonly cluster: ClusterObjects;
  /** A pod with the claim `data` unless told otherwise. */
  readonly asking?: Pod;
  readonly profile?: Profile;
  readonly event: IndexEvent;
  readonly wakes: boolean;
}

export function expectWakeCases(cases: readonly WakeCase[]): void {
  test.each(byName(cases))(
    '%s',
    (_, { cluster, asking = pod('p', ['data']), profile, event: happens, wakes }) => {
      const index = clusterOf({ Node: [node('n1')], ...cluster }, profile);
      const refusal = expectRefusal(index, asking);
      const change = happens(index);
      expect(change !== undefined && refusal.wokenBy(change)).toBe(wakes);
      // Whatever the table says: a pod that fits now must have been woken.
      if (!wakes) expect(plan(asking, index, { nowMs: 0 }).kind).toBe('refusal');
    },
  );
}
