import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import {
  byName,
  claim,
  claimRefTo,
  csiClass,
  localVolume,
  node,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';

const noMatch: PlanOutcome = {
  message: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
};

function gets(volumeName: string, nodeName: string): PlanOutcome {
  return { node: nodeName, volumes: { data: volumeName }, pools: {} };
}

/** Two nodes and a claim called `data` of 5Gi. */
interface Case {
  readonly name: string;
  readonly volumes: readonly PersistentVolume[];
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly storageClass?: StorageClass;
  readonly stowage: PlanOutcome;
  readonly upstream?: PlanOutcome;
}

const mine = claimRefTo('data');

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { volumes, claims, storageClass: own, stowage, upstream = stowage }) => {
    const objects: ClusterObjects = {
      Node: [node('n1'), node('n2')],
      StorageClass: [own ?? storageClass('local'), storageClass('other')],
      PersistentVolume: volumes,
      PersistentVolumeClaim: claims ?? [claim('data', '5Gi')],
    };
    expectOutcomes(objects, pod('p', ['data']), stowage, upstream);
  });
}

describe('a volume whose claimRef names the claim', () => {
  expectCases([
    {
      name: 'is chosen before one of a closer size',
      volumes: [localVolume('close', '5Gi', 'n2'), localVolume('mine', '50Gi', 'n2', { spec: mine })],
      stowage: gets('mine', 'n2'),
    },
    {
      name: 'restricts the pod to its node, although another node has a volume',
      volumes: [localVolume('a-free', '5Gi', 'n1'), localVolume('mine', '5Gi', 'n2', { spec: mine })],
      stowage: gets('mine', 'n2'),
    },
    {
      name: 'matches the claim by its uid, too',
      volumes: [localVolume('mine', '5Gi', 'n2', { spec: claimRefTo('data', 'uid-data') })],
      stowage: gets('mine', 'n2'),
    },
    {
      name: 'with the uid of an earlier claim does not match',
      volumes: [localVolume('stale', '5Gi', 'n2', { spec: claimRefTo('data', 'uid-of-old') })],
      stowage: noMatch,
    },
    {
      name: 'in another namespace does not match',
      volumes: [
        localVolume('theirs', '5Gi', 'n2', { spec: { claimRef: { namespace: 'team', name: 'data' } } }),
      ],
      stowage: noMatch,
    },
    {
      name: 'is chosen in any phase',
      volumes: [localVolume('mine', '5Gi', 'n2', { spec: mine, phase: 'Pending' })],
      stowage: gets('mine', 'n2'),
    },
    {
      name: 'is chosen with any labels',
      volumes: [localVolume('mine', '5Gi', 'n2', { spec: mine })],
      claims: [claim('data', '5Gi', { spec: { selector: { matchLabels: { tier: 'fast' } } } })],
      stowage: gets('mine', 'n2'),
    },
    {
      name: 'is chosen even with another class; kube-scheduler ignores it',
      volumes: [localVolume('mine', '5Gi', 'n2', { spec: mine, className: 'other' })],
      stowage: gets('mine', 'n2'),
      upstream: noMatch,
    },
    {
      name: 'is the one of the closest size of several',
      volumes: [
        localVolume('large', '9Gi', 'n2', { spec: mine }),
        localVolume('small', '6Gi', 'n2', { spec: mine }),
      ],
      stowage: gets('small', 'n2'),
    },
  ]);
});

describe('an unsuitable reserved volume is ignored:', () => {
  const other = localVolume('other', '5Gi', 'n1');
  const deleting = {
    name: 'mine',
    uid: 'uid-mine',
    resourceVersion: '1',
    deletionTimestamp: '2026-01-01T00:00:00Z',
  };
  expectCases([
    {
      name: 'one that is too small',
      volumes: [other, localVolume('mine', '4Gi', 'n2', { spec: mine })],
      stowage: gets('other', 'n1'),
    },
    {
      name: 'one of another volume mode',
      volumes: [other, localVolume('mine', '5Gi', 'n2', { spec: { ...mine, volumeMode: 'Block' } })],
      stowage: gets('other', 'n1'),
    },
    {
      name: 'one of another volume attributes class',
      volumes: [
        other,
        localVolume('mine', '5Gi', 'n2', { spec: { ...mine, volumeAttributesClassName: 'gold' } }),
      ],
      stowage: gets('other', 'n1'),
    },
    {
      name: 'one without the access mode, which the PV controller would never bind; kube-scheduler waits for that',
      volumes: [
        other,
        localVolume('mine', '5Gi', 'n2', { spec: { ...mine, accessModes: ['ReadOnlyMany'] } }),
      ],
      stowage: gets('other', 'n1'),
      upstream: gets('mine', 'n2'),
    },
    {
      name: 'one that is being deleted',
      volumes: [other, localVolume('mine', '5Gi', 'n2', { spec: mine, metadata: deleting })],
      stowage: gets('other', 'n1'),
    },
    {
      name: 'one with a malformed size',
      volumes: [other, localVolume('mine', 'much', 'n2', { spec: mine })],
      stowage: gets('other', 'n1'),
    },
  ]);
});

describe('while a reserved volume exists and the node cannot reach it', () => {
  expectCases([
    {
      name: 'no other volume is chosen, even if the node has one',
      volumes: [localVolume('free', '5Gi', 'n1'), localVolume('mine', '5Gi', 'gone', { spec: mine })],
      stowage: noMatch,
    },
    {
      name: 'no volume is provisioned either; kube-scheduler would provision one and leave the reserved one unused',
      volumes: [localVolume('mine', '5Gi', 'gone', { spec: mine })],
      storageClass: csiClass('disk.csi', 'local'),
      stowage: noMatch,
      upstream: { node: 'n1', volumes: {}, pools: { data: 'new' } },
    },
  ]);
});

describe('a volume that is reserved for another claim', () => {
  expectCases([
    {
      name: 'is left alone',
      volumes: [volume('theirs', '5Gi', { spec: claimRefTo('theirs') })],
      stowage: noMatch,
    },
    {
      name: 'is left alone even if it would be the closest',
      volumes: [volume('theirs', '5Gi', { spec: claimRefTo('theirs') }), localVolume('free', '500Gi', 'n2')],
      stowage: gets('free', 'n2'),
    },
  ]);

  test('is free again when its claimRef is cleared', () => {
    const index = clusterOf({
      Node: [node('n1'), node('n2')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [localVolume('v1', '5Gi', 'n2', { spec: claimRefTo('theirs') })],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    });
    expect(planOutcome(index, pod('p', ['data']))).toEqual(noMatch);
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n2', { version: '2' }));
    expect(planOutcome(index, pod('p', ['data']))).toEqual(gets('v1', 'n2'));
  });
});
