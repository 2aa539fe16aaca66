import { describe, expect, test } from 'vitest';
import { claim, localVolume, storageClass } from '../../engine/testing/objects.ts';
import type { Pod } from '../../kube/api/core.ts';
import { explainTarget } from '../../queries/explain/explain-target.ts';
import type { PodExplanation } from '../../queries/explain/explanation.ts';
import { nodeWith, podWith, threeNodes, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView, Target } from '../../queries/view/cluster-view.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { renderPod } from './render-pod.ts';
import { exitCodeOf } from './run.ts';

function ask(view: ClusterView, target: Partial<Target> = {}): PodExplanation {
  const whole: Target = { kind: 'pod', namespace: 'default', name: 'p', ...target };
  return explainTarget(view, whole, { nowMs: 0, where: 'the test' }) as PodExplanation;
}

function rendered(view: ClusterView, terminal: Terminal = plainTerminal, isWide = false): string {
  return renderPod(ask(view), { terminal, isWide });
}

/** A pod with more to its name than what it asks for. */
function podIn(metadata: Pod['metadata'], status: Pod['status'] = {}, nodeName?: string): Pod {
  const plain = podWith('p', '5', [], nodeName);
  return { ...plain, metadata: { ...plain.metadata, ...metadata }, status };
}

const oneNode = [nodeWith('n1', '4')];
const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('a pod', () => {
  test.each<[string, Pod, string, number]>([
    [
      'that is being deleted is not placed',
      podIn(leaving),
      'Pod default/p is being deleted; it is not scheduled any more.',
      0,
    ],
    [
      'that is being deleted may still have its node',
      podIn(leaving, {}, 'n1'),
      'Pod default/p is being deleted, and is still on n1, which would not do if the pod had to be placed now.',
      0,
    ],
    [
      'may be on a node that is gone',
      podIn({}, {}, 'gone'),
      'Pod default/p is on gone, a node that does not exist.',
      0,
    ],
    [
      'may wait for pods that were evicted for it',
      podIn({}, { nominatedNodeName: 'n1' }),
      'Pod default/p does not fit on the only node: the node has too little free cpu. Its scheduler has nominated it to n1, where it waits for evicted pods to end.',
      3,
    ],
  ])('%s', (_, pod, summary, exitCode) => {
    const explanation = ask(viewOf({ Node: oneNode, Pod: [pod] }));
    expect(explanation.summary).toBe(summary);
    expect(exitCodeOf(explanation)).toBe(exitCode);
  });

  test('shows what its claim waits for if the scheduler cannot help', () => {
    const text = rendered(
      viewOf({
        Node: oneNode,
        PersistentVolumeClaim: [claim('data', '1Gi', { className: 'nope' })],
        Pod: [podWith('p', '1', ['data'])],
      }),
    );
    expect(text).toContain('the claim asks for class nope: no such StorageClass exists');
  });

  test('without a specific remedy gets the general ones', () => {
    const volume = localVolume('v', '1Gi', 'gone', { phase: 'Bound' });
    const bound = claim('data', '1Gi', { spec: { volumeName: 'v' }, phase: 'Bound' });
    const text = rendered(
      viewOf({
        Node: oneNode,
        StorageClass: [storageClass('local')],
        PersistentVolume: [volume],
        PersistentVolumeClaim: [
          {
            ...bound,
            metadata: { ...bound.metadata, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
          },
        ],
        Pod: [podWith('p', '1', ['data'])],
      }),
    );
    expect(text).toContain(
      "- run the pod on a node that matches the volume's node affinity, or add such a node",
    );
  });
});

describe('the text', () => {
  test('never shows too little as if it were enough', () => {
    const gib = 2 ** 30;
    const node = nodeWith('n1', '4');
    const asking = podWith('p', '1', ['data']);
    const containers = [{ name: 'main', resources: { requests: { memory: '4Gi' } } }];
    const text = rendered(
      viewOf({
        Node: [
          { ...node, status: { allocatable: { ...node.status?.allocatable, memory: `${4 * gib - 1}` } } },
        ],
        StorageClass: [storageClass('local')],
        PersistentVolume: [localVolume('v', `${5 * gib - 1}`, 'n1')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
        Pod: [{ ...asking, spec: { ...asking.spec, containers } }],
      }),
    );
    expect(text).toContain('Insufficient memory (needs 4Gi, free 3.99Gi)');
    expect(text).toContain('volume v: 4.99Gi < 5Gi');
    expect(text).toContain('add 1 byte of memory to node n1');
  });

  test('fits on a screen with fifty claims, and is there as a whole when asked for', () => {
    const names = Array.from({ length: 50 }, (_, at) => `data-${at}`);
    const view = viewOf({
      Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
      StorageClass: [storageClass('local')],
      PersistentVolumeClaim: names.map((name) => claim(name, '5Gi')),
      Pod: [podWith('p', '1', names)],
    });
    const text = rendered(view);
    expect(text).toContain('[default/data-0, default/data-1 and 48 more]');
    expect(text).toContain('and 44 more claims (-o wide shows them)');
    expect(text.split('\n').length).toBeLessThan(24);
    expect(rendered(view, plainTerminal, true)).toContain('default/data-49 (5Gi, class local, waiting)');
  });

  test('keeps messages of others from breaking lines and commanding the terminal', () => {
    const message = 'one\ntwo\u001b]0;title\u0007\u001b[2J\u001b[8mhidden';
    const pod = podIn({}, { conditions: [{ type: 'PodScheduled', status: 'False', message }] });
    const view = viewOf({ Node: oneNode, Pod: [pod] });
    const text = rendered(view, { width: 200, hasColour: true, isInteractive: true });
    expect(text).toContain("the pod's condition says: one two ]0;title  [2J [8mhidden");
    expect(text).toContain('\u001b[31mPod\u001b[39m');
  });
});

describe('a name that is not there', () => {
  const namespaces = ['default', 'shop'].map((name) => ({ metadata: { name } }));
  const view = viewOf({
    Namespace: namespaces,
    Pod: [podWith('database-0', '1'), podWith('database-1', '1'), podWith('web', '1')],
  });

  test.each<[Partial<Target>, string]>([
    [{ name: 'databse-0' }, 'close to it is database-0'],
    [{ name: 'database' }, 'close to it are database-0, database-1'],
    [{ namespace: 'shpo', name: 'cart' }, 'there is no namespace shpo either; shop is close'],
    [
      { namespace: 'nowhere', name: 'cart' },
      'there is no namespace nowhere either; kubectl get namespaces lists those there are',
    ],
    [{ namespace: 'shop', name: 'web' }, 'there is one in namespace default; choose it with -n'],
    [{ namespace: 'shop', name: 'cart' }, 'kubectl get pods -n shop lists those there are'],
  ])('%j comes with what was probably meant', (target, hint) => {
    expect(() => ask(view, target)).toThrow(new RegExp(`; ${hint.replaceAll('/', '.')}$`));
  });

  test('is not guessed at where namespaces were not read', () => {
    expect(() => ask(threeNodes(), { namespace: 'shop', name: 'q' })).toThrow(/kubectl get pods -n shop/);
  });
});
