import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectRefusal } from '../../testing/expect-plan.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  ephemeralVolume,
  localVolume,
  node,
  ownedBy,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import type { PodReason } from '../reasons.ts';

/** Refused on every node, with the text of kube-scheduler's PreFilter. */
interface Case {
  readonly name: string;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly pod?: Pod;
  readonly more?: ClusterObjects;
  readonly reason: PodReason;
  readonly about: string;
  readonly message: string;
}

const withScratch = pod('p', [], { volumes: [ephemeralVolume('scratch')] });
const deletionTimestamp = '2026-01-01T00:00:00Z';

function metadata(name: string, rest: PersistentVolumeClaim['metadata']): PersistentVolumeClaim['metadata'] {
  return { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', ...rest };
}

const cases: readonly Case[] = [
  {
    name: 'a claim that does not exist',
    claims: [],
    reason: 'ClaimNotFound',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" not found',
  },
  {
    name: 'a claim of the same name in another namespace',
    claims: [claim('data', '1Gi', { metadata: metadata('data', { namespace: 'team' }) })],
    reason: 'ClaimNotFound',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" not found',
  },
  {
    name: 'one of two claims that does not exist',
    claims: [claim('data', '1Gi')],
    pod: pod('p', ['data', 'more']),
    reason: 'ClaimNotFound',
    about: 'default/more',
    message: 'persistentvolumeclaim "more" not found',
  },
  {
    name: 'a claim of an ephemeral volume that has not been created yet',
    claims: [],
    pod: withScratch,
    reason: 'EphemeralClaimNotCreated',
    about: 'default/p-scratch',
    message: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"',
  },
  {
    name: 'a claim that has lost its volume',
    claims: [lost('data', 'v1')],
    reason: 'ClaimLost',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v1"',
  },
  {
    name: 'a claim that is lost before one that is being deleted',
    claims: [lost('data', 'v1', { deletionTimestamp })],
    reason: 'ClaimLost',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v1"',
  },
  {
    name: 'a claim that is being deleted',
    claims: [claim('data', '1Gi', { metadata: metadata('data', { deletionTimestamp }) })],
    reason: 'ClaimDeleting',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" is being deleted',
  },
  {
    name: 'a bound claim that is being deleted',
    claims: [
      {
        ...boundClaim('data', '1Gi', 'v1'),
        metadata: { ...boundClaim('data', '1Gi', 'v1').metadata, deletionTimestamp },
      },
    ],
    reason: 'ClaimDeleting',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" is being deleted',
  },
  {
    name: 'a claim with the name of an ephemeral one, without an owner',
    claims: [claim('p-scratch', '1Gi')],
    pod: withScratch,
    reason: 'ClaimOfAnotherPod',
    about: 'default/p-scratch',
    message: 'PVC default/p-scratch was not created for pod default/p (pod is not owner)',
  },
  {
    name: 'a claim with the name of an ephemeral one that another pod owns',
    claims: [claim('p-scratch', '1Gi', { metadata: ownedBy('other', 'p-scratch') })],
    pod: withScratch,
    reason: 'ClaimOfAnotherPod',
    about: 'default/p-scratch',
    message: 'PVC default/p-scratch was not created for pod default/p (pod is not owner)',
  },
  {
    name: 'a claim that the pod owns but does not control',
    claims: [
      claim('p-scratch', '1Gi', {
        metadata: metadata('p-scratch', { ownerReferences: [{ kind: 'Pod', name: 'p', uid: 'uid-p' }] }),
      }),
    ],
    pod: withScratch,
    reason: 'ClaimOfAnotherPod',
    about: 'default/p-scratch',
    message: 'PVC default/p-scratch was not created for pod default/p (pod is not owner)',
  },
  {
    name: 'an ephemeral claim without an owner, for a pod without a uid',
    claims: [claim('p-scratch', '1Gi')],
    pod: { ...withScratch, metadata: { namespace: 'default', name: 'p' } },
    reason: 'ClaimOfAnotherPod',
    about: 'default/p-scratch',
    message: 'PVC default/p-scratch was not created for pod default/p (pod is not owner)',
  },
  ...[
    {
      name: 'an unbound claim of an immediate class',
      claims: [claim('data', '1Gi', { className: 'now' })],
    },
    {
      name: 'an unbound claim of an immediate class beside one that could be bound',
      claims: [claim('free', '1Gi'), claim('data', '1Gi', { className: 'now' })],
      pod: pod('p', ['free', 'data']),
    },
    {
      name: 'an unbound claim of an immediate class beside one that is bound',
      claims: [boundClaim('old', '1Gi', 'v1'), claim('data', '1Gi', { className: 'now' })],
      pod: pod('p', ['old', 'data']),
    },
    { name: 'an unbound claim without a class', claims: [claim('data', '1Gi', { className: '' })] },
    {
      name: 'an unbound claim of a class that is gone',
      claims: [claim('data', '1Gi', { className: 'gone' })],
    },
    {
      name: 'a claim that names a volume and is not bound to it yet, of a class that waits',
      claims: [claim('data', '1Gi', { spec: { volumeName: 'v1' } })],
    },
    {
      name: 'a claim that names a volume and is not bound to it yet, beside an unbound one',
      claims: [claim('free', '1Gi'), claim('data', '1Gi', { spec: { volumeName: 'v1' } })],
      pod: pod('p', ['free', 'data']),
    },
  ].map((entry) => ({
    reason: 'UnboundImmediateClaim' as const,
    about: 'default/data',
    message: 'pod has unbound immediate PersistentVolumeClaims',
    ...entry,
  })),
  {
    name: 'a claim of a class without a binding mode',
    claims: [claim('data', '1Gi', { className: 'unset' })],
    reason: 'ClassWithoutBindingMode',
    about: 'default/data',
    message: 'VolumeBindingMode not set for StorageClass "unset"',
  },
  {
    name: 'a claim with a malformed request',
    claims: [claim('data', 'lots')],
    reason: 'MalformedClaim',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" is malformed: spec.resources.requests.storage',
  },
  {
    name: 'a claim with a malformed selector',
    claims: [
      claim('data', '1Gi', {
        spec: { selector: { matchExpressions: [{ key: 'tier', operator: 'Near' as 'In', values: ['x'] }] } },
      }),
    ],
    reason: 'MalformedClaim',
    about: 'default/data',
    message: 'persistentvolumeclaim "data" is malformed: spec.selector.matchExpressions[0].operator',
  },
];

describe.each([
  ['stowage', undefined],
  ['upstream', upstreamProfile],
] as const)('profile %s refuses the pod everywhere for', (_, profile) => {
  test.each(byName(cases))('%s', (__, { claims, pod: wanting, more, reason, about, message }) => {
    const index = clusterOf(
      {
        Node: [node('n1'), node('n2')],
        StorageClass: [
          storageClass('local'),
          csiClass('disk.csi', 'now', { volumeBindingMode: 'Immediate' }),
          { metadata: { name: 'unset' }, provisioner: 'disk.csi' },
        ],
        PersistentVolume: [localVolume('free', '5Gi', 'n1'), volume('v1', '5Gi', { phase: 'Bound' })],
        PersistentVolumeClaim: claims,
        ...more,
      },
      profile,
    );
    const answer = expectRefusal(index, wanting ?? pod('p', ['data']));
    expect(answer.podRefusals.map((refusal) => [refusal.reason, refusal.claim])).toEqual([[reason, about]]);
    expect(answer.podRefusals[0]!.message.startsWith(message)).toBe(true);
    expect(answer.message.startsWith(`0/2 nodes are available: ${message}`)).toBe(true);
    expect([...answer.reasons]).toEqual([[reason, 2]]);
  });
});

test('the claim of an ephemeral volume that its pod controls is like any other', () => {
  const index = clusterOf({
    Node: [node('n1')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [localVolume('v1', '5Gi', 'n1')],
    PersistentVolumeClaim: [claim('p-scratch', '1Gi', { metadata: ownedBy('p', 'p-scratch') })],
  });
  expect(plan(withScratch, index, { nowMs: 0 })).toMatchObject({
    kind: 'placement',
    bindings: [{ claim: 'default/p-scratch', volume: 'v1' }],
  });
});

test('every claim that refuses the pod is listed, although the message names only the first', () => {
  const index = clusterOf({
    Node: [node('n1')],
    PersistentVolumeClaim: [
      claim('b', '1Gi', { metadata: metadata('b', { deletionTimestamp }) }),
      claim('c', '1Gi'),
    ],
  });
  const answer = expectRefusal(index, pod('p', ['a', 'b', 'c']));
  expect(answer.podRefusals.map(({ claim: key, reason }) => [key, reason])).toEqual([
    ['default/a', 'ClaimNotFound'],
    ['default/b', 'ClaimDeleting'],
  ]);
  expect(answer.message).toBe('0/1 nodes are available: persistentvolumeclaim "a" not found.');
});

test('a malformed request of a bound claim does not matter', () => {
  const index = clusterOf({
    Node: [node('n1')],
    PersistentVolume: [volume('v1', '5Gi', { phase: 'Bound' })],
    PersistentVolumeClaim: [boundClaim('data', 'lots', 'v1')],
  });
  expect(plan(pod('p', ['data']), index, { nowMs: 0 }).kind).toBe('placement');
});

function lost(
  name: string,
  volumeName: string,
  more: PersistentVolumeClaim['metadata'] = {},
): PersistentVolumeClaim {
  return claim(name, '1Gi', { phase: 'Lost', spec: { volumeName }, metadata: metadata(name, more) });
}
