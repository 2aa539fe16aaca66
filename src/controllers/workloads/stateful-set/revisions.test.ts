import { expect, test } from 'vitest';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import { canonicalJson } from '../../../kube/go/json-text.ts';
import { planRevisions } from './revisions.ts';

function setWith(terminationGracePeriodSeconds: bigint): StatefulSet {
  return {
    metadata: { namespace: 'default', name: 'db', uid: 'uid-db' },
    spec: { template: { metadata: { labels: { app: 'db' } }, spec: { terminationGracePeriodSeconds } } },
  } as StatefulSet;
}

function revisionOf(seconds: bigint) {
  const plan = planRevisions(setWith(seconds), [], { revisions: [], collisions: 0 });
  if (plan.kind !== 'create') throw new Error(`the plan is to be ${plan.kind}`);
  return plan.revision;
}

test('64-bit integers of the template are exact in its revision, and templates that differ in one have two revisions', () => {
  const [one, other] = [revisionOf(9007199254740993n), revisionOf(9007199254740995n)];
  expect(canonicalJson(one.data)).toContain('"terminationGracePeriodSeconds":9007199254740993');
  expect(one.metadata?.name).not.toBe(other.metadata?.name);
});
