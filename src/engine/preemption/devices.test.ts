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

/** The profile `upstream` adds the text that kube-scheduler's plugin for dynamic resources adds for every pod. */
const cluster = { Node: [nodeWithCpu('n1')] };

test('the message about device claims comes before the message about preemption', () => {
  const index = clusterOf({ ...cluster, Pod: [runningPod('high', 'n1', high, large)] }, upstreamProfile);
  expect(describePreemption(preempt(index, pendingPod('p', low, large)))).toBe(
    'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  );
});

test('there is no message about devices if a pod can be evicted', () => {
  const index = clusterOf({ ...cluster, Pod: [runningPod('low', 'n1', low, large)] }, upstreamProfile);
  expect(describePreemption(preempt(index, pendingPod('p', high, large)))).toBe('n1: low');
});

test('for a pod that is refused before any node is evaluated the plugin has no state, and says so', () => {
  const index = clusterOf(cluster, upstreamProfile);
  expect(preempt(index, pod('p', ['missing']), { rules: volumeRules })).toMatchObject({
    kind: 'none',
    message: 'not found',
    keepsNomination: true,
  });
});
