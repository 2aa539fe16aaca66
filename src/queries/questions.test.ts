import { describe, expect, test } from 'vitest';
import { storageClass } from '../engine/testing/objects.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import {
  capacity,
  explain,
  explainClaim,
  explainPending,
  headroom,
  plan,
  QuestionError,
  reservations,
  snapshotOf,
} from './index.ts';
import { nodeWith, podWith } from './testing/cluster-views.ts';

const pending = { ...podWith('web', '2'), apiVersion: 'v1', kind: 'Pod' };
const node = {
  ...nodeWith('n1', '1'),
  apiVersion: 'v1',
  kind: 'Node',
};
const at = { namespace: 'default', name: 'web' };

describe('a snapshot', () => {
  test('has the items of lists, which may omit their kind', () => {
    const { kind: _, apiVersion: __, ...item } = pending;
    const list = { apiVersion: 'v1', kind: 'PodList', items: [item] } as KubeObject;
    expect(explain(snapshotOf([node, list]), at).verdict).toBe('refused');
  });

  test('takes the Date objects of clients as times', () => {
    const creationTimestamp = new Date(0) as unknown as string;
    const created = { ...pending, metadata: { ...pending.metadata, creationTimestamp } };
    const { snapshot } = snapshotOf([created]);
    expect(snapshot.get('Pod', 'default/web')?.metadata?.creationTimestamp).toBe('1970-01-01T00:00:00.000Z');
  });

  test('names the kinds that it lacks, unless it is complete', () => {
    const notes = (isComplete: boolean) => explain(snapshotOf([node, pending], { isComplete }), at).notes;
    expect(notes(false).map(({ text }) => text)).toContainEqual(expect.stringContaining('no other pods'));
    expect(notes(true)).toEqual([]);
  });

  test.each([[{ metadata: { name: 'x' } }], ['a text'], [null]])('refuses %j with its place', (object) => {
    const asked = () => snapshotOf([node, object as KubeObject]);
    expect(asked).toThrow(QuestionError);
    expect(asked).toThrow('objects[1]');
  });
});

describe('questions', () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
    spec: { storageClassName: 'local', resources: { requests: { storage: '1Gi' } } },
  };
  const local = { ...storageClass('local'), apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
  const snapshot = snapshotOf([node, pending, claim, local], { isComplete: true });

  test('are answered by the reports of the commands', () => {
    expect(explain(snapshot, at)).toMatchObject({ kind: 'PodExplanation', verdict: 'refused' });
    expect(explainClaim(snapshot, { namespace: 'default', name: 'data' }).kind).toBe('ClaimExplanation');
    expect(explainPending(snapshot)).toMatchObject({ pods: { pending: 1 } });
    expect(plan(snapshot, [{ kind: 'add-nodes', count: 1, like: 'n1' }]).kind).toBe('PlanReport');
    expect(headroom(snapshot, { storageClass: 'local' }).rows).toMatchObject([
      { of: 'class local', count: 0 },
    ]);
    expect(reservations(snapshot).kind).toBe('ReservationsReport');
    expect(capacity(snapshot).kind).toBe('CapacityReport');
  });

  test.each([
    [
      'a pod',
      () => explain(snapshot, { namespace: 'default', name: 'none' }),
      'there is no pod default/none',
    ],
    ['a node', () => plan(snapshot, [{ kind: 'drain-node', node: 'none' }]), 'none'],
    ['a class', () => headroom(snapshot, { storageClass: 'none' }), 'there is no class none'],
    ['a size', () => headroom(snapshot, { size: 'large' }), 'size: "large" must be a size such as 10Gi'],
  ])('about %s that does not exist are refused', (_what, ask, message) => {
    expect(ask).toThrow(QuestionError);
    expect(ask).toThrow(message);
  });
});
