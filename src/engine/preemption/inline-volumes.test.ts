import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { clusterOf } from '../testing/cluster.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { driverCapacity, inlineVolume, node, pod, pool } from '../testing/objects.ts';
import { describePreemption, high, low, middle, preempt } from './testing/preemption-cluster.ts';

const driver = 'pmem.csi';

/** If the pod has a start time, a capacity report that was measured later includes the volume. */
function redis(name: string, size: string, priority: number, startedAt?: string): Pod {
  const object = pod(name, [], { nodeName: 'n1', volumes: [inlineVolume('pmem', driver, size)] });
  const lastTransitionTime = startedAt ?? '';
  return {
    ...object,
    spec: { ...object.spec, priority },
    ...(startedAt !== undefined && {
      status: { conditions: [{ type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime }] },
    }),
  };
}

const asking: Pod = {
  ...pod('p', [], { volumes: [inlineVolume('pmem', driver, '6Gi')] }),
};

function preemptWith(free: string, pods: readonly Pod[]): string {
  const measuredAt = '2026-01-01T01:00:00Z';
  const index = clusterOf({
    Node: [node('n1')],
    Pod: pods,
    DriverCapacity: [
      driverCapacity(driver, [
        { storageClassName: '<ephemeral>', pools: [pool('n1', free, { measuredAt, nodeList: ['n1'] })] },
      ]),
    ],
  });
  index.settle(0);
  const before = dumpIndex(index);
  const found = preempt(
    index,
    { ...asking, spec: { ...asking.spec, priority: high } },
    { rules: volumeRules },
  );
  expect(dumpIndex(index)).toEqual(before);
  return describePreemption(found);
}

test('evicting a pod frees the promised bytes of its inline volumes', () => {
  expect(preemptWith('10Gi', [redis('small', '2Gi', low), redis('large', '6Gi', middle)])).toBe('n1: large');
});

test('evicting a pod frees the bytes of inline volumes that the report already includes', () => {
  const started = '2026-01-01T00:00:00Z';
  const pods = [redis('small', '2Gi', low, started), redis('large', '6Gi', middle, started)];
  expect(preemptWith('1Gi', pods)).toBe('n1: large');
});
