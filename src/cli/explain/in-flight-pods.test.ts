import { describe, expect, test } from 'vitest';
import { claim, storageClass } from '../../engine/testing/objects.ts';
import type { Pod } from '../../kube/api/core.ts';
import { explainPod } from './explain-pod.ts';
import { nodeWith, podWith, viewOf } from './testing/cluster-views.ts';

const asking = podWith('asking', '2');
const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;

/** The verdict for a pod beside another pod, which asks for most of the only node. */
function verdictBeside(status: Pod['status'], selectedNodes: readonly string[]): string {
  const names = selectedNodes.map((_, at) => `data-${at}`);
  const other: Pod = { ...podWith('other', '3', names), status: status ?? {} };
  const claims = selectedNodes.map((selectedNode, at) =>
    claim(`data-${at}`, '1Gi', { className: 'slow', ...(selectedNode !== '' && { selectedNode }) }),
  );
  const view = viewOf({
    Node: [nodeWith('n1', '4')],
    StorageClass: [storageClass('slow', { provisioner: 'csi.example.com' })],
    PersistentVolumeClaim: claims,
    Pod: [other, { ...asking, spec: { ...asking.spec, priority: 10 } }],
  });
  return explainPod(view, { ...asking, spec: { ...asking.spec, priority: 10 } }, { nowMs: 0 }).verdict;
}

describe('a pod that waits for its volumes', () => {
  test('counts on the node that was chosen for it', () => {
    expect(verdictBeside({}, ['n1'])).toBe('refused');
    expect(verdictBeside({ nominatedNodeName: 'n1' }, ['n1'])).toBe('refused');
    expect(verdictBeside({ nominatedNodeName: 'n1', conditions: [unschedulable] }, ['n1'])).toBe('refused');
  });

  test('does not count without a chosen node, or after it was refused', () => {
    expect(verdictBeside({}, [''])).toBe('fits');
    expect(verdictBeside({ conditions: [unschedulable] }, ['n1'])).toBe('fits');
    // It is nominated for another reason: a claim of its own has no node yet.
    expect(verdictBeside({ nominatedNodeName: 'n1', conditions: [unschedulable] }, ['n1', ''])).toBe('fits');
  });
});
