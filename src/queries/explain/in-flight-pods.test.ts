import { describe, expect, test } from 'vitest';
import { claim, localVolume, storageClass } from '../../engine/testing/objects.ts';
import type { Pod } from '../../kube/api/core.ts';
import { nodeWith, podWith, viewOf } from '../testing/cluster-views.ts';
import { explainPod } from './explain-pod.ts';

const asking = podWith('asking', '2');
const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;

/** The verdict for a pod beside another pod, which asks for most of the only node. */
function verdictBeside(
  status: Pod['status'],
  selectedNodes: readonly string[],
  further: readonly Pod[] = [],
): string {
  const names = selectedNodes.map((_, at) => `data-${at}`);
  const other: Pod = { ...podWith('other', '3', names), status: status ?? {} };
  const claims = selectedNodes.map((selectedNode, at) =>
    claim(`data-${at}`, '1Gi', { className: 'slow', ...(selectedNode !== '' && { selectedNode }) }),
  );
  const view = viewOf({
    Node: [nodeWith('n1', '4')],
    StorageClass: [storageClass('slow', { provisioner: 'csi.example.com' })],
    PersistentVolumeClaim: claims,
    Pod: [...further, other, { ...asking, spec: { ...asking.spec, priority: 10 } }],
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
    // It is nominated for another reason: its own claim has no node yet.
    expect(verdictBeside({ nominatedNodeName: 'n1', conditions: [unschedulable] }, ['n1', ''])).toBe('fits');
  });

  test('does not count while it waits for pods that are evicted for it', () => {
    const { metadata, spec } = podWith('victim', '2', [], 'n1');
    const victim = {
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { ...spec, priority: -1 },
    };
    const status = { nominatedNodeName: 'n1', conditions: [unschedulable] };
    expect(verdictBeside(status, ['n1'], [victim])).toBe('fits');
    // Without the pod that is in flight to the same node it would fit.
    const inFlight = podWith('in-flight', '1', ['data-0']);
    const small = { ...victim, spec: podWith('victim', '1', [], 'n1').spec! };
    const beside = { metadata: victim.metadata, spec: { ...small.spec, priority: -1 } };
    expect(verdictBeside(status, ['n1'], [beside, inFlight])).toBe('fits');
  });

  test('keeps the existing volumes that were chosen for it', () => {
    const other = podWith('other', '1', ['created', 'existing']);
    const next = podWith('next', '1', ['wanted']);
    const objects = {
      Node: [nodeWith('n1', '4')],
      StorageClass: [storageClass('slow', { provisioner: 'csi.example.com' }), storageClass('local')],
      PersistentVolume: [localVolume('disk', '4Gi', 'n1')],
      PersistentVolumeClaim: [claim('existing', '1Gi'), claim('wanted', '1Gi')],
      Pod: [other, next],
    };
    const verdictWith = (selected: { readonly selectedNode?: string }) => {
      const created = claim('created', '1Gi', { className: 'slow', ...selected });
      const PersistentVolumeClaim = [...objects.PersistentVolumeClaim, created];
      return explainPod(viewOf({ ...objects, PersistentVolumeClaim }), next, { nowMs: 0 }).verdict;
    };
    expect(verdictWith({})).toBe('fits');
    expect(verdictWith({ selectedNode: 'n1' })).toBe('refused');
  });

  test('has chosen its volumes after the pods whose claims got their node earlier', () => {
    const selected = (name: string, resourceVersion: string) => {
      const made = claim(name, '1Gi', { className: 'slow', selectedNode: 'n1' });
      return { ...made, metadata: { ...made.metadata, resourceVersion } };
    };
    const volumeOfA = (versionOfA: string, versionOfB: string) => {
      const next = podWith('next', '0', ['a']);
      const view = viewOf({
        Node: [nodeWith('n1', '4')],
        StorageClass: [storageClass('slow', { provisioner: 'csi.example.com' }), storageClass('local')],
        PersistentVolume: [localVolume('small', '2Gi', 'n1'), localVolume('large', '4Gi', 'n1')],
        PersistentVolumeClaim: [
          selected('slow-a', versionOfA),
          selected('slow-b', versionOfB),
          claim('a', '1Gi'),
          claim('b', '1Gi'),
        ],
        Pod: [podWith('pod-a', '0', ['slow-a', 'a']), podWith('pod-b', '0', ['slow-b', 'b']), next],
      });
      return explainPod(view, next, { nowMs: 0 }).placement?.volumes;
    };
    expect(volumeOfA('9', '10')).toEqual([{ claim: 'default/a', volume: 'small' }]);
    expect(volumeOfA('10', '9')).toEqual([{ claim: 'default/a', volume: 'large' }]);
  });
});
