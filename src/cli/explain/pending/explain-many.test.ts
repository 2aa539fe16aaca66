import { describe, expect, test } from 'vitest';
import { claim, csiDriver, storageCapacity, storageClass } from '../../../engine/testing/objects.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type {
  PendingExplanation,
  PendingPodsExplanation,
  WorkloadExplanation,
} from '../../../queries/explain/pending/pending-explanation.ts';
import { nodeWith, podWith, viewOf } from '../../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../../queries/view/cluster-view.ts';
import { plainTerminal } from '../../output/terminal.ts';
import { exitCodeOfPending, renderedPending } from './render.ts';
import { type AskedForMany, answerMany, askedForMany } from './run.ts';

const golden = (name: string) => `../testing/golden/${name}`;

function ask(
  view: ClusterView,
  asked: AskedForMany = { kind: 'pods', namespace: undefined },
): PendingExplanation {
  const namespace = asked.namespace ?? 'default';
  return answerMany({ view, namespace, where: 'the test', isFromFiles: false }, asked, { nowMs: 0 });
}

function askWorkload(
  view: ClusterView,
  kind: WorkloadExplanation['workload']['kind'],
  name: string,
): WorkloadExplanation {
  return ask(view, { kind, namespace: 'default', name }) as WorkloadExplanation;
}

const textOf = (explanation: PendingExplanation) => renderedPending(explanation, 'table', plainTerminal);

function ownedBy(kind: string, name: string, pod: Pod, more: Partial<Pod> = {}): Pod {
  const owner = { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true };
  return { ...pod, ...more, metadata: { ...pod.metadata, ownerReferences: [owner] } };
}

const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } as const;

/** Five pods of a ReplicaSet that lack cpu, three that share a pool, one with a gate, one that would fit. */
function busyView(): ClusterView {
  const web = Array.from({ length: 5 }, (_, at) =>
    ownedBy('ReplicaSet', 'web-1', podWith(`web-1-${at}`, '3')),
  );
  const db = ['a', 'b', 'c'].map((name) => ({
    ...podWith(`db-${name}`, '100m', [`data-${name}`]),
  }));
  const gated = podWith('gated', '1');
  return viewOf(
    {
      Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
      Namespace: [{ metadata: { name: 'default' } }],
      CSIDriver: [csiDriver('csi.example.com')],
      StorageClass: [storageClass('dyn', { provisioner: 'csi.example.com' })],
      CSIStorageCapacity: [storageCapacity('pool', 'dyn', { capacity: '4Gi', nodeTopology: {} })],
      PersistentVolumeClaim: ['a', 'b', 'c'].map((name) =>
        claim(`data-${name}`, '10Gi', { className: 'dyn' }),
      ),
      ReplicaSet: [
        {
          metadata: {
            namespace: 'default',
            name: 'web-1',
            ownerReferences: [
              { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true },
            ],
          },
          spec: { replicas: 8 },
          status: {
            conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods' }],
          },
        },
      ],
      Pod: [
        podWith('busy-1', '3', [], 'n1'),
        podWith('busy-2', '3', [], 'n2'),
        ...web,
        ownedBy('ReplicaSet', 'web-1', podWith('web-1-r', '500m', [], 'n1'), running),
        ...db,
        { ...gated, spec: { ...gated.spec, schedulingGates: [{ name: 'quota' }] } },
        podWith('small', '100m'),
      ],
    },
    { unseen: [] },
  );
}

describe('all pending pods', () => {
  test('are grouped by cause, with the change that helps most of them', async () => {
    const explanation = ask(busyView()) as PendingPodsExplanation;
    expect(explanation.pods).toEqual({ pending: 10, withCause: 9, fitting: 1, starting: 0, notExplained: 0 });
    expect(explanation.causes.map(({ count, verdict }) => [count, verdict])).toEqual([
      [5, 'refused'],
      [3, 'refused'],
      [1, 'gated'],
    ]);
    expect(explanation.causes[1]?.remedies[0]).toMatchObject({
      text: expect.stringMatching(/^Grow the storage behind CSIStorageCapacity \S+ by 26Gi, to 30Gi$/),
      helped: 3,
      tried: 3,
    });
    await expect(textOf(explanation)).toMatchFileSnapshot(golden('pending.txt'));
    await expect(renderedPending(explanation, 'wide', plainTerminal)).toMatchFileSnapshot(
      golden('pending-wide.txt'),
    );
    await expect(renderedPending(explanation, 'json', plainTerminal)).toMatchFileSnapshot(
      golden('pending-json.txt'),
    );
    expect(renderedPending(explanation, 'name', plainTerminal).split('\n').slice(0, 2)).toEqual([
      'pod default/web-1-0',
      'pod default/web-1-1',
    ]);
    expect(exitCodeOfPending(explanation)).toBe(3);
  });

  test('are printed by name without characters that a terminal obeys', () => {
    const view = viewOf({ Node: [nodeWith('n1', '1')], Pod: [podWith('big\u001b[2J\u202ex\ny', '3')] });
    expect(renderedPending(ask(view), 'name', plainTerminal)).toBe('pod default/big [2J x y\n');
  });

  test('of a quiet cluster are none', () => {
    const view = viewOf({ Node: [nodeWith('n1', '4')], Pod: [podWith('p', '1', [], 'n1')] });
    expect(textOf(ask(view))).toBe('No pod is pending.\n');
    expect(exitCodeOfPending(ask(view))).toBe(0);
  });

  test('that would fit are no reason for a status', () => {
    const explanation = ask(viewOf({ Node: [nodeWith('n1', '4')], Pod: [podWith('p', '1')] }));
    expect(explanation.summary).toBe('1 pod is pending (1 would fit now).');
    expect(exitCodeOfPending(explanation)).toBe(0);
  });

  test('can be asked for by namespace, which must exist', () => {
    expect(ask(busyView(), { kind: 'pods', namespace: 'default' }).pods.pending).toBe(10);
    expect(() => ask(busyView(), { kind: 'pods', namespace: 'nope' })).toThrow(
      'there is no namespace nope in the test',
    );
  });

  test('are grouped by what their scheduler reports if the nodes could not be read', () => {
    const message = '0/3 nodes are available: 3 Insufficient cpu.';
    const status = { conditions: [{ type: 'PodScheduled', status: 'False', message }] } as const;
    const pods = ['a', 'b'].map((name): Pod => ({ ...podWith(name, '1'), status }));
    const explanation = ask(viewOf({ Pod: pods }, { seesNodes: false }));
    expect(explanation.causes).toMatchObject([{ count: 2, text: `its scheduler reports: ${message}` }]);
    expect(exitCodeOfPending(explanation)).toBe(1);
  });

  test('that may not be listed are an error, not none', () => {
    const hidden = { kind: 'Pod', plural: 'pods', onlyNamespace: undefined } as const;
    const view = viewOf({ Node: [nodeWith('n1', '4')] }, { unseen: [hidden] });
    expect(() => ask(view)).toThrow(
      'could not read pods: forbidden; ask for the right to list them, or choose a namespace where you have it with -n',
    );
    expect(() => ask(view, { kind: 'pods', namespace: 'shop' })).toThrow(
      'could not read pods of namespace shop: forbidden; ask for the right to list them',
    );
  });

  test('that the files do not contain are an error, not none', () => {
    const view = viewOf({ Node: [nodeWith('n1', '4')] }, { isFromFiles: true });
    expect(() => ask(view)).toThrow('there is no pod in the test; add the output of kubectl get pods -A');
  });

  test('of the only namespace that may be read are not called all', () => {
    const partly = { kind: 'Pod', plural: 'pods', onlyNamespace: 'default' } as const;
    const explanation = ask(viewOf({ Node: [nodeWith('n1', '4')] }, { unseen: [partly] }));
    expect(explanation.summary).toBe(
      'No pod is pending in namespace default, the only one whose pods you may list.',
    );
    expect(explanation).toMatchObject({ namespace: 'default' });
  });

  test('in a large cluster are explained within bounds, and the output says what was left out', () => {
    const pods = Array.from({ length: 260 }, (_, at) => podWith(`p-${at}`, `${10 + at}`));
    const view = viewOf({ Node: Array.from({ length: 30 }, (_, at) => nodeWith(`n${at}`, '4')), Pod: pods });
    const explanation = ask(view);
    expect(explanation.pods).toMatchObject({ pending: 260, withCause: 200, notExplained: 60 });
    expect(textOf(explanation)).toContain('60 pods were not looked at');
    expect(explanation.omissions).toHaveLength(2);
  });
});

describe('a workload', () => {
  test('shows how many pods run, are pending and cannot be created', async () => {
    const explanation = askWorkload(busyView(), 'Deployment', 'web');
    expect(explanation).toMatchObject({
      workload: { kind: 'Deployment', replicas: 8 },
      running: 1,
      pods: { pending: 5, withCause: 5 },
      notCreated: { count: 2, why: 'exceeded quota: pods', isFailure: true },
    });
    await expect(textOf(explanation)).toMatchFileSnapshot(golden('deployment.txt'));
    expect(exitCodeOfPending(explanation)).toBe(3);
    expect(askWorkload(busyView(), 'ReplicaSet', 'web-1').running).toBe(1);
  });

  test('that creates its pods in order waits for the first', () => {
    const set = { metadata: { namespace: 'default', name: 'db' }, spec: { replicas: 3 } };
    const first = ownedBy('StatefulSet', 'db', podWith('db-0', '8'));
    const explanation = askWorkload(
      viewOf({ Node: [nodeWith('n1', '4')], StatefulSet: [set], Pod: [first] }),
      'StatefulSet',
      'db',
    );
    expect(explanation.summary).toBe(
      'StatefulSet default/db: 0 of 3 pods running, 1 pending, 2 not created.',
    );
    expect(explanation.notCreated).toMatchObject({
      count: 2,
      isFailure: false,
      why: expect.stringContaining('when db-0 is ready'),
    });
  });

  test('whose pods are refused by the server says so', () => {
    const set = { metadata: { namespace: 'default', name: 'db' }, spec: { replicas: 1 } };
    const failed = {
      metadata: { namespace: 'default', name: 'e' },
      involvedObject: { kind: 'StatefulSet', namespace: 'default', name: 'db' },
      reason: 'FailedCreate',
      message: 'create Pod db-0 in StatefulSet db failed error: quota',
    };
    const explanation = askWorkload(
      viewOf({ StatefulSet: [set] }, { events: [failed] }),
      'StatefulSet',
      'db',
    );
    expect(explanation.notCreated).toEqual({ count: 1, isFailure: true, why: failed.message });
    expect(exitCodeOfPending(explanation)).toBe(3);
  });

  test('whose pods may not be listed is an error, not one without pods', () => {
    const set = { metadata: { namespace: 'default', name: 'db' }, spec: { replicas: 3 } };
    const hidden = { kind: 'Pod', plural: 'pods', onlyNamespace: undefined } as const;
    expect(() =>
      askWorkload(viewOf({ StatefulSet: [set] }, { unseen: [hidden] }), 'StatefulSet', 'db'),
    ).toThrow('could not read pods of namespace default: forbidden');
  });

  test('that runs has status 0, and one that does not exist is an error', () => {
    const set = { metadata: { namespace: 'default', name: 'db' }, spec: { replicas: 1 } };
    const pod = ownedBy('StatefulSet', 'db', podWith('db-0', '1', [], 'n1'), running);
    const view = viewOf({ Node: [nodeWith('n1', '4')], StatefulSet: [set], Pod: [pod] });
    expect(textOf(askWorkload(view, 'StatefulSet', 'db'))).toBe(
      'StatefulSet default/db: 1 of 1 pod running.\n',
    );
    expect(exitCodeOfPending(askWorkload(view, 'StatefulSet', 'db'))).toBe(0);
    expect(() => askWorkload(view, 'StatefulSet', 'x')).toThrow(
      'there is no statefulset default/x in the test',
    );
    expect(() => askWorkload(view, 'Deployment', 'x')).toThrow(
      'there is no ReplicaSet of deployment default/x',
    );
  });
});

describe('the arguments', () => {
  test.each<[string | undefined, string | undefined, AskedForMany | undefined]>([
    [undefined, undefined, { kind: 'pods', namespace: undefined }],
    ['pods', undefined, { kind: 'pods', namespace: undefined }],
    ['sts', 'db', { kind: 'StatefulSet', namespace: undefined, name: 'db' }],
    ['deployment/web', undefined, { kind: 'Deployment', namespace: undefined, name: 'web' }],
    ['deploy', 'shop/web', { kind: 'Deployment', namespace: 'shop', name: 'web' }],
    ['rs', 'web-1', { kind: 'ReplicaSet', namespace: undefined, name: 'web-1' }],
    ['pod', 'web', undefined],
    ['pod/web', undefined, undefined],
    ['claim', undefined, undefined],
  ])('%s %s', (kind, name, asked) => expect(askedForMany(kind, name, undefined)).toEqual(asked));

  test('of a workload need a name', () => {
    expect(() => askedForMany('sts', undefined, undefined)).toThrow(
      '"sts" is a kind, and the name is missing',
    );
  });
});

test('pods that wait for one provisioner have one cause, whatever their claims are called', () => {
  const waiting = ['a', 'b'].map((name) => podWith(`w-${name}`, '1', [`c-${name}`]));
  const view = viewOf(
    {
      Node: [nodeWith('n1', '4')],
      StorageClass: [storageClass('dyn', { provisioner: 'csi.example.com' })],
      PersistentVolumeClaim: ['a', 'b'].map((name) =>
        claim(`c-${name}`, '1Gi', { className: 'dyn', selectedNode: 'n1' }),
      ),
      Pod: waiting,
    },
    { unseen: [] },
  );
  const explanation = ask(view);
  expect(explanation.causes).toMatchObject([
    { count: 2, verdict: 'waiting', text: 'waits for provisioner csi.example.com to create its volumes' },
  ]);
  expect(exitCodeOfPending(explanation)).toBe(3);
});

test('a change that helps a single pod is not called the best for most', () => {
  const pods = [
    podWith('a', '10'),
    { ...podWith('b', '1'), spec: { ...podWith('b', '1').spec, nodeSelector: { disk: 'ssd' } } },
  ];
  expect(textOf(ask(viewOf({ Node: [nodeWith('n1', '4')], Pod: pods })))).toContain(
    'no change that was tried helps more than one pod',
  );
});
