import { expect, test } from 'vitest';
import { planReplicas, type ReplicaStep } from '../../../engine/workloads/stateful-set-plan.ts';
import type { StatefulSetSpec } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { OwnerReference } from '../../../kube/api/meta.ts';
import { dataTemplate, setSpec, setTemplate } from './testing/sets.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const current = { name: 'old', template: setTemplate('v1') };
const update = { name: 'new', template: setTemplate('v2') };

/** `web-0 new ready`: name, revision and the flags below, in any number. */
function podFrom(text: string): Pod {
  const [name = '', revision = '', ...flags] = text.split(' ');
  const is = (word: string) => flags.includes(word);
  const since = is('just-ready') ? '2026-11-15T11:59:55Z' : '2026-11-15T11:00:00Z';
  const isReady = is('ready') || is('just-ready');
  return {
    metadata: {
      name,
      uid: `uid of ${name}`,
      labels: {
        'controller-revision-hash': revision,
        ...(is('nameless') ? {} : { 'statefulset.kubernetes.io/pod-name': name }),
      },
      ...(is('going') ? { deletionTimestamp: '2026-11-15T11:59:59Z' } : {}),
    },
    status: {
      phase: is('failed') ? 'Failed' : is('succeeded') ? 'Succeeded' : is('pending') ? 'Pending' : 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }],
    },
  };
}

/** `data-web-0 of Pod web-0`, and ` going` if it is being deleted. */
function claimFrom(text: string): PersistentVolumeClaim {
  const [, name = '', kind, owner, going] = /^(\S+)(?: of (\S+) (\S+))?( going)?$/.exec(text) ?? [];
  const reference: OwnerReference = {
    apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
    kind: kind ?? '',
    name: owner ?? '',
    uid: `uid of ${owner}`,
    controller: true,
  };
  return {
    metadata: {
      name,
      ...(kind === undefined ? {} : { ownerReferences: [reference] }),
      ...(going === undefined ? {} : { deletionTimestamp: '2026-11-15T11:59:59Z' }),
    },
  };
}

function lineOf(step: ReplicaStep): string {
  switch (step.kind) {
    case 'create-pod':
      return `make ${step.pod.metadata?.name} ${step.pod.metadata?.labels?.['controller-revision-hash']}`;
    case 'delete-pod':
      return `delete ${step.pod.metadata?.name}`;
    case 'identify-pod':
      return `name ${step.pod.metadata?.name}`;
    case 'create-claim':
      return `make ${step.claim.metadata?.name}`;
    case 'await-claim':
      return `await ${step.claim.metadata?.name}`;
    default:
      return `${step.claim.metadata?.name} to ${step.owners.map(({ kind, name }) => `${kind} ${name}`).join() || 'no owner'}`;
  }
}

interface Case {
  readonly name: string;
  readonly spec: StatefulSetSpec;
  readonly pods?: readonly string[];
  readonly claims?: readonly string[];
  readonly steps: readonly string[];
}

const parallel = { podManagementPolicy: 'Parallel' } as const;
const volumeClaimTemplates = [dataTemplate];
const rolling = (partition: number) =>
  ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } }) as const;
const policy = (whenDeleted: 'Retain' | 'Delete', whenScaled: 'Retain' | 'Delete') => ({
  volumeClaimTemplates,
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
});

const cases: readonly Case[] = [
  { name: 'no replicas', spec: { replicas: 0 }, steps: [] },
  { name: 'the first is created alone', spec: { replicas: 3 }, steps: ['make web-0 new'] },
  {
    name: 'in parallel all are created',
    spec: { replicas: 2, ...parallel },
    steps: ['make web-0 new', 'make web-1 new'],
  },
  {
    name: 'ordinals start at the configured number',
    spec: { replicas: 1, ordinals: { start: 7 } },
    steps: ['make web-7 new'],
  },
  { name: 'the second waits for the first', spec: { replicas: 2 }, pods: ['web-0 new'], steps: [] },
  {
    name: 'the second follows the first',
    spec: { replicas: 2 },
    pods: ['web-0 new ready'],
    steps: ['make web-1 new'],
  },
  {
    name: 'ready is not enough with minReadySeconds',
    spec: { replicas: 2, minReadySeconds: 10 },
    pods: ['web-0 new just-ready'],
    steps: [],
  },
  {
    name: 'nothing while one is terminating',
    spec: { replicas: 2 },
    pods: ['web-0 new ready going'],
    steps: [],
  },
  {
    name: 'a gap is filled first',
    spec: { replicas: 3 },
    pods: ['web-0 new ready', 'web-2 new ready'],
    steps: ['make web-1 new'],
  },
  {
    name: 'claims are created before their pod',
    spec: { replicas: 1, volumeClaimTemplates },
    steps: ['make data-web-0', 'make web-0 new'],
  },
  {
    name: 'an existing claim is used',
    spec: { replicas: 1, volumeClaimTemplates },
    claims: ['data-web-0'],
    steps: ['make web-0 new'],
  },
  {
    name: 'a pod waits for the deletion of a claim',
    spec: { replicas: 1, volumeClaimTemplates },
    claims: ['data-web-0 going'],
    steps: ['await data-web-0'],
  },
  {
    name: 'a pending pod gets a missing claim',
    spec: { replicas: 1, volumeClaimTemplates },
    pods: ['web-0 new pending'],
    steps: ['make data-web-0'],
  },
  {
    name: 'a failed pod is deleted',
    spec: { replicas: 2 },
    pods: ['web-0 new failed', 'web-1 new ready'],
    steps: ['delete web-0'],
  },
  {
    name: 'so is one that succeeded',
    spec: { replicas: 1 },
    pods: ['web-0 new succeeded'],
    steps: ['delete web-0'],
  },
  { name: 'but only once', spec: { replicas: 1 }, pods: ['web-0 new failed going'], steps: [] },
  {
    name: 'a pod without the label of its name gets it',
    spec: { replicas: 1 },
    pods: ['web-0 new ready nameless'],
    steps: ['name web-0'],
  },
  {
    name: 'the highest is deleted first',
    spec: { replicas: 1 },
    pods: ['web-0 new ready', 'web-1 new ready', 'web-2 new ready'],
    steps: ['delete web-2'],
  },
  {
    name: 'in parallel all are deleted',
    spec: { replicas: 1, ...parallel },
    pods: ['web-0 new ready', 'web-1 new ready', 'web-2 new ready'],
    steps: ['delete web-2', 'delete web-1'],
  },
  {
    name: 'none is deleted while one before it is unhealthy',
    spec: { replicas: 1 },
    pods: ['web-0 new', 'web-1 new ready'],
    steps: [],
  },
  {
    name: 'an unhealthy one may be deleted itself',
    spec: { replicas: 1 },
    pods: ['web-0 new ready', 'web-1 new'],
    steps: ['delete web-1'],
  },
  {
    name: 'a healthy one is deleted before an unhealthy one below it',
    spec: { replicas: 0 },
    pods: ['web-0 new', 'web-1 new ready'],
    steps: ['delete web-1'],
  },
  {
    name: 'an unhealthy one waits for an unhealthy one below it',
    spec: { replicas: 0 },
    pods: ['web-0 new', 'web-1 new'],
    steps: [],
  },
  {
    name: 'one after the other',
    spec: { replicas: 0 },
    pods: ['web-0 new ready', 'web-1 new ready going'],
    steps: [],
  },
  {
    name: 'an update starts at the highest ordinal',
    spec: { replicas: 2, ...rolling(0) },
    pods: ['web-0 old ready', 'web-1 old ready'],
    steps: ['delete web-1'],
  },
  {
    name: 'and continues when the new one is ready',
    spec: { replicas: 2, ...rolling(0) },
    pods: ['web-0 old ready', 'web-1 new ready'],
    steps: ['delete web-0'],
  },
  {
    name: 'but not before',
    spec: { replicas: 2, ...rolling(0), ...parallel },
    pods: ['web-0 old ready', 'web-1 new'],
    steps: [],
  },
  {
    name: 'and not below the partition',
    spec: { replicas: 2, ...rolling(1) },
    pods: ['web-0 old ready', 'web-1 new ready'],
    steps: [],
  },
  {
    name: 'pods below the partition are recreated with the old revision',
    spec: { replicas: 2, ...rolling(1) },
    pods: ['web-1 new ready'],
    steps: ['make web-0 old'],
  },
  {
    name: 'OnDelete updates only deleted pods',
    spec: { replicas: 1, updateStrategy: { type: 'OnDelete' } },
    pods: ['web-0 old ready'],
    steps: [],
  },
  {
    name: 'scaling comes before updating',
    spec: { replicas: 1, ...rolling(0) },
    pods: ['web-0 old ready', 'web-1 old ready'],
    steps: ['delete web-1'],
  },
  {
    name: 'claims that are deleted with the set are owned by it',
    spec: { replicas: 1, ...policy('Delete', 'Retain') },
    pods: ['web-0 new ready'],
    claims: ['data-web-0'],
    steps: ['data-web-0 to StatefulSet web'],
  },
  {
    name: 'claims that are retained have no owner',
    spec: { replicas: 1, ...policy('Retain', 'Retain') },
    pods: ['web-0 new ready'],
    claims: ['data-web-0 of StatefulSet web'],
    steps: ['data-web-0 to no owner'],
  },
  {
    name: 'claims of a pod that is scaled down are first owned by it',
    spec: { replicas: 1, ...policy('Delete', 'Delete') },
    pods: ['web-0 new ready', 'web-1 new ready'],
    claims: ['data-web-0 of StatefulSet web', 'data-web-1 of StatefulSet web'],
    steps: ['data-web-1 to Pod web-1', 'delete web-1'],
  },
  {
    name: 'and no longer when the pod is needed again',
    spec: { replicas: 2, ...policy('Retain', 'Delete') },
    pods: ['web-0 new ready', 'web-1 new ready'],
    claims: ['data-web-0', 'data-web-1 of Pod web-1'],
    steps: ['data-web-1 to no owner'],
  },
  {
    name: 'a pod waits until the claim of its predecessor is gone',
    spec: { replicas: 1, ...policy('Retain', 'Delete') },
    claims: ['data-web-0 of Pod web-0'],
    steps: [],
  },
  {
    name: 'claims of another controller are not changed',
    spec: { replicas: 1, ...policy('Delete', 'Retain') },
    pods: ['web-0 new ready'],
    claims: ['data-web-0 of Backup web'],
    steps: [],
  },
];

test.each(cases)('$name', ({ spec, pods = [], claims = [], steps }) => {
  const set = { metadata: { name: 'web', namespace: 'default', uid: 'uid of web' }, spec: setSpec(spec) };
  const byName = new Map(claims.map(claimFrom).map((claim) => [claim.metadata?.name ?? '', claim]));
  const plan = planReplicas({ set, pods: pods.map(podFrom), claims: byName, current, update, nowMs });
  expect(plan.map(lineOf)).toEqual(steps);
});

test('a set that is being deleted does nothing', () => {
  const metadata = { name: 'web', uid: 'uid of web', deletionTimestamp: '2026-11-15T12:00:00Z' };
  const set = { metadata, spec: setSpec({ replicas: 3 }) };
  expect(planReplicas({ set, pods: [], claims: new Map(), current, update, nowMs })).toEqual([]);
});

const countOf = (plan: readonly ReplicaStep[], kind: ReplicaStep['kind']) =>
  plan.filter((step) => step.kind === kind).length;

test('the largest number of replicas is planned in bursts', () => {
  const metadata = { name: 'web', uid: 'uid of web' };
  const spec = setSpec({ replicas: 2_147_483_647, ...parallel, volumeClaimTemplates });
  const set = { metadata, spec };
  const first = planReplicas({ set, pods: [], claims: new Map(), current, update, nowMs });
  expect(countOf(first, 'create-claim')).toBe(500);
  expect(countOf(first, 'create-pod')).toBe(500);
  const pods = first.flatMap((step) => (step.kind === 'create-pod' ? [step.pod] : []));
  const next = planReplicas({ set, pods, claims: new Map(), current, update, nowMs });
  const names = next.flatMap((step) => (step.kind === 'create-pod' ? [step.pod.metadata?.name] : []));
  expect([names.length, names[0], names.at(-1)]).toEqual([500, 'web-500', 'web-999']);
});

test('ordinals end at the largest 32-bit integer', () => {
  const set = {
    metadata: { name: 'web', uid: 'uid of web' },
    spec: setSpec({ replicas: 2_147_483_647, ordinals: { start: 2_147_483_646 }, ...parallel }),
  };
  const plan = planReplicas({ set, pods: [], claims: new Map(), current, update, nowMs });
  expect(plan.map(lineOf)).toEqual(['make web-2147483646 new', 'make web-2147483647 new']);
});

test('scaling down in parallel deletes pods in bursts, beside those that are terminating', () => {
  const set = {
    metadata: { name: 'web', uid: 'uid of web' },
    spec: setSpec({ replicas: 0, ...parallel }),
  };
  const pods = Array.from({ length: 1_200 }, (_, ordinal) =>
    podFrom(`web-${ordinal} new ready${ordinal >= 600 ? ' going' : ''}`),
  );
  const plan = planReplicas({ set, pods, claims: new Map(), current, update, nowMs });
  expect([plan.length, plan.map(lineOf)[0]]).toEqual([500, 'delete web-599']);
});

test('an update finds the pods to replace at any start ordinal', () => {
  const set = {
    metadata: { name: 'web', uid: 'uid of web' },
    spec: setSpec({ replicas: 2, ordinals: { start: 5 }, ...rolling(1) }),
  };
  const pods = ['web-5 old ready', 'web-6 old ready'].map(podFrom);
  const plan = planReplicas({ set, pods, claims: new Map(), current, update, nowMs });
  expect(plan.map(lineOf)).toEqual(['delete web-6']);
});
