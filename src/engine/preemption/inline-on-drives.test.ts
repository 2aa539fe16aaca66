import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { clusterOf } from '../testing/cluster.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { csiClass, csiDriver, drive, driveNode, gib, inlineVolume, pod } from '../testing/objects.ts';
import { describePreemption, high, low, middle, preempt } from './testing/preemption-cluster.ts';

const driver = 'drives.stowage.dev';

function scratchPod(name: string, size: string, priority: number): Pod {
  const object = pod(name, [], { nodeName: 'n1', volumes: [inlineVolume('scratch', driver, size)] });
  return { ...object, spec: { ...object.spec, priority } };
}

const pods = [scratchPod('small', '2Gi', low), scratchPod('large', '6Gi', middle)];

function preemptOn(drives: readonly Drive[]): string {
  const index = clusterOf({
    CSIDriver: [csiDriver(driver)],
    StorageClass: [csiClass(driver, 'local')],
    Node: [driveNode('n1')],
    Drive: drives,
    Pod: pods,
  });
  index.settle(0);
  const before = dumpIndex(index);
  const asking = pod('p', [], { volumes: [inlineVolume('scratch', driver, '6Gi')] });
  const found = preempt(
    index,
    { ...asking, spec: { ...asking.spec, priority: high } },
    { rules: volumeRules },
  );
  expect(dumpIndex(index)).toEqual(before);
  return describePreemption(found);
}

test('evicting a pod frees the promised bytes of its inline volume on a drive', () => {
  expect(preemptOn([drive('a', 10)])).toBe('n1: large');
});

test('evicting a pod frees the bytes of its inline volume in the ledger, on that drive', () => {
  const entry = (name: string, sizeGib: number) => {
    const podRef = { namespace: 'default', name, uid: `uid-${name}` };
    return { name: `csi-${name}`, sizeBytes: gib(sizeGib), podRef };
  };
  const together = drive('a', 10, { spec: { volumes: [entry('small', 2), entry('large', 6)] } });
  expect(preemptOn([together])).toBe('n1: large');
  // The small volume is alone on a drive of 6Gi: without it the new one fits there.
  const apart = [
    drive('a', 7, { spec: { volumes: [entry('large', 6)] } }),
    drive('b', 6, { spec: { volumes: [entry('small', 2)] } }),
  ];
  expect(preemptOn(apart)).toBe('n1: small');
});
