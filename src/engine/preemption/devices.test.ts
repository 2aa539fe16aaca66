import { expect, test } from 'vitest';
import { upstreamProfile } from '../cluster-index/profile.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { clusterOf } from '../testing/cluster.ts';
import { pod } from '../testing/objects.ts';
import {
  describePreemption,
  high,
  large,
  low,
  nodeWithCpu,
  pendingPod,
  preempt,
  runningPod,
} from './testing/preemption-cluster.ts';

/** Profile `upstream` repeats what kube-scheduler's rule for dynamic resources says of every pod. */
const cluster = { Node: [nodeWithCpu('n1')] };

test('that no devices can be given back is said before anything of evictions', () => {
  const index = clusterOf({ ...cluster, Pod: [runningPod('high', 'n1', high, large)] }, upstreamProfile);
  expect(describePreemption(preempt(index, pendingPod('p', low, large)))).toBe(
    'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  );
});

test('nothing is said of devices where somebody can be evicted', () => {
  const index = clusterOf({ ...cluster, Pod: [runningPod('low', 'n1', low, large)] }, upstreamProfile);
  expect(describePreemption(preempt(index, pendingPod('p', high, large)))).toBe('n1: low');
});

test('a pod that is refused before any node is looked at leaves the rule without its notes, and it says so', () => {
  const index = clusterOf(cluster, upstreamProfile);
  expect(preempt(index, pod('p', ['missing']), { rules: volumeRules })).toMatchObject({
    kind: 'none',
    message: 'not found',
    keepsNomination: true,
  });
});
