import { describe, expect, test } from 'vitest';
import { claim, csiDriver, storageCapacity, storageClass } from '../../engine/testing/objects.ts';
import type { Pod, PodCondition } from '../../kube/api/core.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderPod } from './render-pod.ts';
import { exitCodeOf } from './run.ts';

const refusal = '0/1 nodes are available: 1 node(s) did not have enough free storage.';

function withCondition(pod: Pod, condition: Partial<PodCondition>): Pod {
  const full = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', ...condition } as const;
  return { ...pod, status: { conditions: [full] } };
}

/** Two claims that fit the pool one by one and not together. */
function twoClaims(rest: Partial<ClusterView> = {}): ClusterView {
  return viewOf(
    {
      Node: [nodeWith('n1', '4')],
      CSIDriver: [csiDriver('csi.example.com')],
      StorageClass: [storageClass('pools', { provisioner: 'csi.example.com' })],
      CSIStorageCapacity: [storageCapacity('pool', 'pools', { capacity: '50Gi', nodeTopology: {} })],
      PersistentVolumeClaim: ['a', 'b'].map((name) => claim(name, '40Gi', { className: 'pools' })),
    },
    rest,
  );
}

const twoClaimsPod = podWith('p', '1', ['a', 'b']);

describe('a pod that its scheduler has refused and that would fit', () => {
  test('is reported as a contradiction first, with both texts, and is no success', () => {
    const pod = withCondition(twoClaimsPod, { message: refusal });
    const explanation = explainPod(twoClaims(), pod, { nowMs: 0 });
    expect(explanation).toMatchObject({
      verdict: 'fits',
      contradiction: {
        reported: refusal,
        explained: 'Pod default/p would fit now, on n1; its scheduler has not placed it yet.',
      },
    });
    const [headline] = renderPod(explanation, { terminal: plainTerminal, isWide: false }).split('\n');
    expect(headline).toMatch(
      /^Pod default\/p: its scheduler and this explanation disagree\. The pod's condition says: 0\/1 nodes are available: .* By the rules of profile upstream: Pod default\/p would fit now/,
    );
    expect(exitCodeOf(explanation)).toBe(3);
  });

  test('is not, if the rules are those of its scheduler, or the condition is about gates', () => {
    const pod = withCondition(twoClaimsPod, { message: refusal });
    const agreed = explainPod(twoClaims(), pod, { nowMs: 0, profile: 'stowage' });
    expect(agreed).toMatchObject({ verdict: 'refused', message: refusal });
    expect(agreed.contradiction).toBeUndefined();
    const gated = withCondition(twoClaimsPod, { reason: 'SchedulingGated' });
    expect(exitCodeOf(explainPod(twoClaims(), gated, { nowMs: 0 }))).toBe(0);
  });

  test('is not, if the cluster was changed in memory to see whether it would fit', () => {
    const pod = withCondition(twoClaimsPod, { message: refusal });
    const explanation = explainPod(twoClaims({ isHypothetical: true }), pod, { nowMs: 0 });
    expect([explanation.contradiction, exitCodeOf(explanation)]).toEqual([undefined, 0]);
  });
});

test('a pod that is refused and whose condition says that it is scheduled is a contradiction too', () => {
  const pod = withCondition(podWith('p', '8'), { status: 'True', reason: '' });
  const explanation = explainPod(viewOf({ Node: [nodeWith('n1', '4')] }), pod, { nowMs: 0 });
  expect(explanation.summary).toContain("The pod's condition says: the pod is scheduled.");
});

describe("under kube-scheduler's rules", () => {
  test('claims that fit one by one and not together are a risk, with the numbers', () => {
    const { notes, verdict } = explainPod(twoClaims(), twoClaimsPod, { nowMs: 0 });
    expect([verdict, notes]).toEqual([
      'fits',
      [
        {
          about: 'risk',
          text: 'kube-scheduler checks each claim alone. On n1 the claims default/a (40Gi) and default/b (40Gi) need 80Gi together, and pool storage/pool has 50Gi free. Their provisioner may fail after the pod has been given this node',
        },
      ],
    ]);
  });

  test('claims that fit together are none', () => {
    const view = twoClaims();
    view.snapshot.add(
      'CSIStorageCapacity',
      storageCapacity('pool', 'pools', { capacity: '80Gi', nodeTopology: {} }),
    );
    expect(explainPod(view, twoClaimsPod, { nowMs: 0 }).notes).toEqual([]);
  });
});

test('capacity that is kept for a nominated pod is not offered to another', () => {
  const nominated: Pod = { ...podWith('first', '3'), status: { nominatedNodeName: 'n1' } };
  const second = podWith('second', '3');
  const view = viewOf({ Node: [nodeWith('n1', '4')], Pod: [nominated, second] });
  const explanation = explainPod(view, second, { nowMs: 0 });
  expect(explanation.summary).toBe(
    'Pod default/second does not fit: n1 would do, but the scheduler keeps its free capacity for default/first, nominated to it.',
  );
  expect(explanation.message).toMatch(/^0\/1 nodes are available: 1 Insufficient cpu/);
});

describe('a pod whose scheduler avoids nodes on which provisioning failed', () => {
  const message = '0/1 nodes are available: 1 node(s) recently failed to provide a volume.';

  test('is refused as its condition says, though it would fit', () => {
    const pod = withCondition(podWith('p', '1', ['a']), { message });
    const explanation = explainPod(twoClaims(), pod, { nowMs: 0 });
    expect(explanation).toMatchObject({ verdict: 'refused', message });
    expect(explanation.summary).toMatch(
      /^Pod default\/p would fit on n1, but its scheduler avoids nodes on which a provisioner has just failed/,
    );
    expect([explanation.contradiction, exitCodeOf(explanation)]).toEqual([undefined, 3]);
  });

  test('has a note about it if it fits nowhere anyway', () => {
    const pod = withCondition(podWith('p', '8', ['a']), { message });
    const { verdict, notes } = explainPod(twoClaims(), pod, { nowMs: 0 });
    expect(verdict).toBe('refused');
    expect(notes.map(({ text }) => text).join()).toContain('Besides, its scheduler avoids nodes');
  });

  test('is judged by the rules alone in a hypothetical cluster', () => {
    const pod = withCondition(podWith('p', '1', ['a']), { message });
    expect(explainPod(twoClaims({ isHypothetical: true }), pod, { nowMs: 0 }).verdict).toBe('fits');
  });
});
