import { describe, expect, test } from 'vitest';
import {
  boundClaim,
  claim,
  csiDriver,
  localVolume,
  storageCapacity,
  storageClass,
  volume,
} from '../../engine/testing/objects.ts';
import type { Event, PersistentVolume, Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { explainClaim } from '../../queries/explain/explain-claim.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import type { PodExplanation } from '../../queries/explain/explanation.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderPod } from './render-pod.ts';
import { exitCodeOf, nameOf } from './run.ts';

function ask(view: ClusterView, pod: Pod): PodExplanation {
  return explainPod(view, pod, { nowMs: 0 });
}

function textOf(explanation: PodExplanation): string {
  return renderPod(explanation, { terminal: plainTerminal, isWide: false });
}

describe('a pod whose provisioner does not answer', () => {
  const provisioner = 'csi.example.com';
  const pod = podWith('p', '1', ['data']);

  function waiting(more: Parameters<typeof viewOf>[0] = {}, rest: Partial<ClusterView> = {}): ClusterView {
    return viewOf(
      {
        Node: [nodeWith('n1', '4')],
        StorageClass: [storageClass('slow', { provisioner })],
        PersistentVolumeClaim: [claim('data', '1Gi', { className: 'slow', selectedNode: 'n1' })],
        Pod: [pod],
        ...more,
      },
      rest,
    );
  }

  test('waits, and does not fit now', () => {
    const explanation = ask(waiting(), pod);
    expect(explanation.verdict).toBe('waiting');
    expect(explanation.summary).toBe(
      'Pod default/p has its node and waits for its volumes: claim default/data waits for provisioner csi.example.com to create its volume for node n1.',
    );
    expect([exitCodeOf(explanation), nameOf(explanation)]).toEqual([3, 'node/n1\n']);
    expect(explanation.waitsFor).toMatchObject([{ reason: 'Provisioner', provisioner, node: 'n1' }]);
    expect(textOf(explanation)).toContain('there is no CSIDriver csi.example.com: if it is a CSI driver');
  });

  test('is shown the error of the provisioner, and no missing driver if there is one', () => {
    const event: Event = {
      involvedObject: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message: 'out of disks',
    };
    const text = textOf(ask(waiting({ CSIDriver: [csiDriver(provisioner, {})] }, { events: [event] }), pod));
    expect(text).toContain("the claim's latest warning is ProvisioningFailed: out of disks");
    expect(text).not.toContain('there is no CSIDriver');
  });

  test('is still waiting after its binding timed out, and fits while no node is selected', () => {
    const conditions = [
      { type: 'PodScheduled', status: 'False', reason: 'SchedulerError', message: 'binding volumes: …' },
    ] as const;
    expect(ask(waiting(), { ...pod, status: { conditions } }).verdict).toBe('waiting');
    const unselected = waiting({ PersistentVolumeClaim: [claim('data', '1Gi', { className: 'slow' })] });
    expect(ask(unselected, pod).verdict).toBe('fits');
  });

  test('is refused, not waiting, if a pod in flight has taken its node', () => {
    const claims = ['data', 'other'].map((name) =>
      claim(name, '4Gi', { className: 'slow', selectedNode: 'n1' }),
    );
    const view = waiting({
      CSIDriver: [csiDriver(provisioner)],
      // Smaller than the claim: its volume is counted already.
      CSIStorageCapacity: [storageCapacity('pool', 'slow', { capacity: '2Gi', nodeTopology: {} })],
      PersistentVolumeClaim: claims,
      Pod: [pod, podWith('in-flight', '4', ['other'])],
    });
    expect(explainPod(view, pod, { nowMs: 0, profile: 'upstream' }).verdict).toBe('refused');
    view.snapshot.add('Pod', podWith('in-flight', '1', ['other']));
    expect(explainPod(view, pod, { nowMs: 0, profile: 'upstream' }).verdict).toBe('waiting');
  });
});

describe('a pod whose volume is attached to another node', () => {
  const late: Pod = { ...podWith('late', '1', ['data'], 'n1'), status: { phase: 'Pending' } };
  const web = podWith('web', '1', ['data'], 'n2');
  const attachment = {
    metadata: { name: 'a' },
    spec: { attacher: 'd', nodeName: 'n2', source: { persistentVolumeName: 'v' } },
  };

  function attached(
    objects: Parameters<typeof viewOf>[0],
    rest: Partial<ClusterView> = {},
    spec: PersistentVolume['spec'] = {},
  ): ClusterView {
    return viewOf(
      {
        Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
        PersistentVolume: [volume('v', '1Gi', { phase: 'Bound', spec })],
        PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v')],
        Pod: [late, web],
        ...objects,
      },
      rest,
    );
  }

  test('cannot start, and the explanation names the node and the pod', () => {
    const explanation = ask(attached({ VolumeAttachment: [attachment] }), late);
    expect(explanation.summary).toBe(
      'Pod default/late is on n1 and cannot start there: volume v of claim default/data can be attached to one node only, and is attached to n2, where default/web uses it.',
    );
    expect(exitCodeOf(explanation)).toBe(3);
    expect(explanation).toMatchObject({
      verdict: 'waiting',
      waitsFor: [{ node: 'n2', pods: ['default/web'] }],
    });
    expect(textOf(explanation)).toContain('delete that pod or run both pods on one node');
  });

  test('waits for a node that still has it, without a pod there', () => {
    const explanation = ask(attached({ VolumeAttachment: [attachment], Pod: [late] }), late);
    expect(explanation.summary).toMatch(/is attached to n2, where no pod uses it any more\.$/);
  });

  test('is recognised by the event if attachments could not be read', () => {
    const event: Event = {
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'late' },
      reason: 'FailedAttachVolume',
      message: 'Multi-Attach error for volume "v" Volume is already used by pod(s) web',
    };
    expect(ask(attached({}, { events: [event] }), late).verdict).toBe('waiting');
    expect(ask(attached({}), late).verdict).toBe('placed');
  });

  test('starts if it runs already, or if the volume may be attached to several nodes', () => {
    const view = attached({ VolumeAttachment: [attachment] });
    expect(ask(view, { ...late, status: { phase: 'Running' } }).verdict).toBe('placed');
    const shared = attached({ VolumeAttachment: [attachment] }, {}, { accessModes: ['ReadWriteMany'] });
    expect(ask(shared, late).verdict).toBe('placed');
  });
});

test('a volume that its driver created elsewhere is named with the remedy', () => {
  const marks = { [annotations.bindCompleted]: 'yes', [annotations.selectedNode]: 'n1' };
  const pod = podWith('p', '1', ['data']);
  const view = viewOf({
    Node: [nodeWith('n1', '4'), { ...nodeWith('n2', '4'), spec: { unschedulable: true } }],
    StorageClass: [storageClass('local')],
    PersistentVolume: [localVolume('pv', '1Gi', 'n2')],
    PersistentVolumeClaim: [
      boundClaim('data', '1Gi', 'pv', {
        metadata: { namespace: 'default', name: 'data', uid: 'uid-data', annotations: marks },
      }),
    ],
    Pod: [pod],
  });
  const explanation = ask(view, pod);
  const place =
    'node n1 was selected for claim default/data, but the driver created its volume pv where only n2 can reach it; make one of these nodes fit the pod';
  expect(explanation.claims[0]?.elsewhere).toContain(place);
  expect(textOf(explanation)).toContain(`place: ${place}`);
  const claimExplanation = explainClaim(view, view.snapshot.get('PersistentVolumeClaim', 'default/data')!, {
    nowMs: 0,
  });
  expect(claimExplanation.elsewhere).toContain(place);
});
