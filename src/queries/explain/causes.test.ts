import { expect, test } from 'vitest';
import { boundClaim, claim, csiDriver, localVolume, storageClass } from '../../engine/testing/objects.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { annotations } from '../../kube/well-known.ts';
import { nodeWith, podWith, viewOf } from '../testing/cluster-views.ts';
import { explainClaim } from './explain-claim.ts';
import { explainPod } from './explain-pod.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');

function ofScheduler(schedulerName: string, rest: Partial<Pod> = {}): Pod {
  const plain = podWith('p', '1');
  const metadata = { ...plain.metadata, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { ...plain, ...rest, metadata, spec: { ...plain.spec, schedulerName } };
}

function withoutClass(name: string): PersistentVolumeClaim {
  const { storageClassName: _, ...spec } = claim(name, '1Gi').spec ?? {};
  return { ...claim(name, '1Gi'), spec };
}

test('no scheduler runs for the pod: the explanation has the name and what helps', () => {
  const pod = ofScheduler('batch');
  const view = viewOf({ Node: [nodeWith('n1', '4')], Pod: [pod] }, { leases: [] });
  const { verdict, summary } = explainPod(view, pod, { nowMs });
  expect(verdict).toBe('unserved');
  expect(summary).toBe(
    'Pod default/p is placed by no scheduler, although it would fit on n1: no scheduler with the name batch seems to run: no Lease announces this name, ' +
      'no Event or condition of the pod is from a scheduler, and no other pod of this schedulerName has a node; start the scheduler batch, or recreate the ' +
      'pod with a schedulerName that is served, such as default-scheduler.',
  );
});

const reported = { status: { conditions: [{ type: 'PodScheduled', status: 'False' as const }] } };

test.each([
  [
    'another pod of that name has a node',
    ofScheduler('batch'),
    [
      {
        ...ofScheduler('batch'),
        metadata: { namespace: 'default', name: 'other' },
        spec: { schedulerName: 'batch', nodeName: 'n1' },
      },
    ],
  ],
  ['a condition is from a scheduler', ofScheduler('batch', reported), []],
  ['it is that of kube-scheduler, which announces itself nowhere', ofScheduler('default-scheduler'), []],
])('a scheduler counts as running if %s', (_, pod, others) => {
  const view = viewOf({ Node: [nodeWith('n1', '4')], Pod: [pod, ...others] }, { leases: [] });
  expect(explainPod(view, pod, { nowMs }).summary).not.toContain('no scheduler');
});

test('the scheduler of a new pod is not missed, nor one whose Lease cannot be read', () => {
  const pod = ofScheduler('batch');
  const objects = { Node: [nodeWith('n1', '4')], Pod: [pod] };
  const early = { nowMs: Date.parse('2026-01-01T00:00:05Z') };
  expect(explainPod(viewOf(objects, { leases: [] }), pod, early).verdict).toBe('fits');
  expect(explainPod(viewOf(objects), pod, { nowMs }).verdict).toBe('fits');
});

test('a volume of a node that is gone: the node is named', () => {
  const pod = podWith('p', '1', ['data']);
  const view = viewOf({
    Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [localVolume('pv-7', '10Gi', 'n9', { phase: 'Bound' })],
    PersistentVolumeClaim: [boundClaim('data', '10Gi', 'pv-7')],
    Pod: [pod],
  });
  const { summary, podReasons } = explainPod(view, pod, { nowMs });
  expect(summary).toBe(
    'Pod default/p cannot run anywhere: volume pv-7 is pinned to node n9, which does not exist (default/data).',
  );
  expect(podReasons.map(({ remedy }) => remedy)).toEqual([
    'start n9 again under this name; if its disk is lost, delete the claim and the pod, and restore the data from a copy',
  ]);
});

test('a volume of a node that exists is not said to be lost', () => {
  const pod = podWith('p', '8', ['data']);
  const view = viewOf({
    Node: [nodeWith('n1', '4')],
    PersistentVolume: [localVolume('pv-7', '10Gi', 'n1', { phase: 'Bound' })],
    PersistentVolumeClaim: [boundClaim('data', '10Gi', 'pv-7')],
    Pod: [pod],
  });
  expect(explainPod(view, pod, { nowMs }).podReasons).toEqual([]);
});

test('a claim without a class, where no class is the default', () => {
  const pod = podWith('p', '1', ['data']);
  const objects = { Node: [nodeWith('n1', '4')], PersistentVolumeClaim: [withoutClass('data')], Pod: [pod] };
  const view = viewOf({ ...objects, StorageClass: [storageClass('fast')] });
  const asked = explainClaim(view, withoutClass('data'), { nowMs });
  const remedy =
    'recreate the claim with spec.storageClassName (fast), mark a class as the default (kubectl annotate storageclass fast ' +
    'storageclass.kubernetes.io/is-default-class=true), or create a PersistentVolume without a class that fits';
  expect([asked.state, asked.summary]).toEqual([
    'NoDefaultClass',
    `Claim default/data names no class, and no StorageClass is marked as the default: ${remedy}.`,
  ]);
  const { summary, podReasons } = explainPod(view, pod, { nowMs });
  expect(summary).toBe(
    'Pod default/p cannot run anywhere: claim default/data names no class, and no StorageClass is marked as the default.',
  );
  expect(podReasons[0]?.remedy).toBe(remedy);
});

test('a claim without a class gets the default class, and one with an empty class gets none', () => {
  const marked = storageClass('fast');
  const fast = {
    ...marked,
    metadata: { ...marked.metadata, annotations: { [annotations.isDefaultClass]: 'true' } },
  };
  const empty = claim('data', '1Gi', { className: '' });
  const stateOf = (asked: PersistentVolumeClaim, classes: readonly StorageClass[] = [fast]) =>
    explainClaim(viewOf({ PersistentVolumeClaim: [asked], StorageClass: classes }), asked, { nowMs });
  expect(stateOf(withoutClass('data')).waitsFor).toBe(
    'the PV controller gives it class fast, which is the default',
  );
  expect(stateOf(empty).state).toBe('WaitsForVolume');
  expect(stateOf(empty, [marked]).state).toBe('WaitsForVolume');
});

test('an Immediate class whose driver is not installed', () => {
  const immediate = storageClass('now', { provisioner: 'disk.csi', volumeBindingMode: 'Immediate' });
  const asked = claim('data', '1Gi', { className: 'now' });
  const objects = { PersistentVolumeClaim: [asked], StorageClass: [immediate] };
  const waitsFor = (view: ReturnType<typeof viewOf>) => explainClaim(view, asked, { nowMs }).waitsFor;
  expect(waitsFor(viewOf(objects))).toBe(
    'provisioner disk.csi has to create its volume, and there is no CSIDriver disk.csi: if it is a CSI driver, it is not installed; install it, or ' +
      'recreate the claim with another class',
  );
  expect(waitsFor(viewOf({ ...objects, CSIDriver: [csiDriver('disk.csi')] }))).toBe(
    "provisioner disk.csi makes its volume; see the claim's events if it does not",
  );
});
