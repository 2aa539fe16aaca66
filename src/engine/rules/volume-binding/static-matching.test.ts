import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { type ClusterObjects, clusterOf, type PlanOutcome, planOutcome } from '../../testing/cluster.ts';
import { expectPlacement } from '../../testing/expect-plan.ts';
import {
  byName,
  claim,
  claimRefTo,
  hostname,
  labelIn,
  localVolume,
  node,
  pod,
  storageClass,
  volume,
  zone,
} from '../../testing/objects.ts';
import { expectOutcomes } from '../../testing/profile-cases.ts';
import { Ledger } from '../../testing/whole-engine.ts';

const noMatch: PlanOutcome = {
  message: "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.",
};

function gets(volumeName: string, nodeName = 'n1'): PlanOutcome {
  return { node: nodeName, volumes: { data: volumeName }, pools: {} };
}

/** One node, a class without a provisioner, and a claim called `data`; the same with both profiles. */
interface Case {
  readonly name: string;
  readonly volumes: readonly PersistentVolume[];
  readonly claim?: PersistentVolumeClaim;
  readonly expected: PlanOutcome;
}

function expectBoth(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { volumes, claim: wanted = claim('data', '5Gi'), expected }) => {
    const objects: ClusterObjects = {
      Node: [node('n1', { [zone]: 'a' })],
      StorageClass: [storageClass('local'), storageClass('other')],
      PersistentVolume: volumes,
      PersistentVolumeClaim: [wanted],
    };
    expectOutcomes(objects, pod('p', ['data']), expected);
  });
}

describe('of the matching volumes a claim gets', () => {
  expectBoth([
    {
      name: 'the smallest that is large enough',
      volumes: [volume('v10', '10Gi'), volume('v6', '6Gi'), volume('v4', '4Gi')],
      expected: gets('v6'),
    },
    { name: 'one of exactly its size', volumes: [volume('v1', '5Gi')], expected: gets('v1') },
    {
      name: 'the first by name among equals, whatever their order',
      volumes: [volume('v2', '5Gi'), volume('v1', '5Gi'), volume('v3', '5Gi')],
      expected: gets('v1'),
    },
    {
      name: 'a far too large one if there is no other: waste is not limited',
      volumes: [volume('v1', '5Pi')],
      expected: gets('v1'),
    },
    {
      name: 'the smaller one even if the units differ',
      volumes: [volume('binary', '6Gi'), volume('decimal', '6G')],
      expected: gets('decimal'),
    },
    {
      name: 'the smallest across topologies that the node is in',
      volumes: [
        localVolume('v-local', '8Gi', 'n1'),
        volume('v-zone', '6Gi', { terms: [labelIn(zone, 'a')] }),
        volume('v-any', '7Gi'),
      ],
      expected: gets('v-zone'),
    },
    {
      name: 'any volume, the smallest, if it states no size',
      volumes: [volume('v2', '2Gi'), volume('v1', '1Gi')],
      claim: claim('data', '', { spec: { resources: {} } }),
      expected: gets('v1'),
    },
    {
      name: 'a volume without a size only if it states none either',
      volumes: [volume('v1', '', { spec: { capacity: {} } })],
      claim: claim('data', '', { spec: { resources: {} } }),
      expected: gets('v1'),
    },
  ]);
});

describe('sizes are compared exactly', () => {
  expectBoth([
    {
      name: 'if a double cannot distinguish them',
      volumes: [volume('v1', '9007199254740992'), volume('v2', '9007199254740993')],
      claim: claim('data', '9007199254740993'),
      expected: gets('v2'),
    },
    {
      name: 'at 800 exabytes',
      volumes: [volume('v1', '799E'), volume('v2', '801E'), volume('v3', '800E')],
      claim: claim('data', '800E'),
      expected: gets('v3'),
    },
    {
      name: 'and a far too large size stays too large',
      volumes: [volume('v1', '800E')],
      claim: claim('data', '801E'),
      expected: noMatch,
    },
    {
      name: 'down to parts of a byte',
      volumes: [volume('v1', '1'), volume('v2', '1001m')],
      claim: claim('data', '1001m'),
      expected: gets('v2'),
    },
  ]);
});

describe('a volume is ignored', () => {
  const selector = { matchLabels: { tier: 'fast' } };
  const labelled = (labels: Record<string, string>): PersistentVolume['metadata'] => ({
    name: 'v1',
    uid: 'uid-v1',
    resourceVersion: '1',
    labels,
  });
  expectBoth([
    { name: 'if it is too small', volumes: [volume('v1', '4Gi')], expected: noMatch },
    { name: 'if it is on another node', volumes: [localVolume('v1', '5Gi', 'n2')], expected: noMatch },
    {
      name: 'if it is in another zone',
      volumes: [volume('v1', '5Gi', { terms: [labelIn(zone, 'b')] })],
      expected: noMatch,
    },
    {
      name: 'if it has another class',
      volumes: [volume('v1', '5Gi', { className: 'other' })],
      expected: noMatch,
    },
    { name: 'if it has no class', volumes: [volume('v1', '5Gi', { className: '' })], expected: noMatch },
    {
      name: 'if it is a block device and the claim requests files',
      volumes: [volume('v1', '5Gi', { spec: { volumeMode: 'Block' } })],
      expected: noMatch,
    },
    {
      name: 'if it has files and the claim requests a block device',
      volumes: [volume('v1', '5Gi', { spec: { volumeMode: 'Filesystem' } })],
      claim: claim('data', '5Gi', { spec: { volumeMode: 'Block' } }),
      expected: noMatch,
    },
    {
      name: 'if it has another volume attributes class',
      volumes: [volume('v1', '5Gi', { spec: { volumeAttributesClassName: 'gold' } })],
      claim: claim('data', '5Gi', { spec: { volumeAttributesClassName: 'silver' } }),
      expected: noMatch,
    },
    {
      name: 'if it has a volume attributes class and the claim requests none',
      volumes: [volume('v1', '5Gi', { spec: { volumeAttributesClassName: 'gold' } })],
      expected: noMatch,
    },
    {
      name: 'if it lacks a requested access mode',
      volumes: [volume('v1', '5Gi', { spec: { accessModes: ['ReadOnlyMany'] } })],
      expected: noMatch,
    },
    {
      name: 'if it offers only one of two requested access modes',
      volumes: [volume('v1', '5Gi')],
      claim: claim('data', '5Gi', { spec: { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } }),
      expected: noMatch,
    },
    {
      name: 'if the claim requests an unknown access mode',
      volumes: [volume('v1', '5Gi', { spec: { accessModes: ['Borrow' as 'ReadWriteOnce'] } })],
      claim: claim('data', '5Gi', { spec: { accessModes: ['Borrow' as 'ReadWriteOnce'] } }),
      expected: noMatch,
    },
    {
      name: 'if its labels do not match the selector',
      volumes: [volume('v1', '5Gi', { metadata: labelled({ tier: 'slow' }) })],
      claim: claim('data', '5Gi', { spec: { selector } }),
      expected: noMatch,
    },
    {
      name: 'if it matches the selector but is too small',
      volumes: [volume('v1', '4Gi', { metadata: labelled({ tier: 'fast' }) })],
      claim: claim('data', '5Gi', { spec: { selector } }),
      expected: noMatch,
    },
    {
      name: 'if it is being deleted',
      volumes: [
        volume('v1', '5Gi', { metadata: { ...labelled({}), deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      ],
      expected: noMatch,
    },
    ...['Pending', 'Bound', 'Released', 'Failed', ''].map((phase) => ({
      name: `if its phase is "${phase}"`,
      volumes: [volume('v1', '5Gi', { phase })],
      expected: noMatch,
    })),
    {
      name: 'if it is bound to another claim',
      volumes: [volume('v1', '5Gi', { phase: 'Available', spec: claimRefTo('theirs', 'uid-theirs') })],
      expected: noMatch,
    },
    {
      name: 'if it was bound to an earlier claim of the same name',
      volumes: [volume('v1', '5Gi', { phase: 'Released', spec: claimRefTo('data', 'uid-of-old') })],
      expected: noMatch,
    },
    {
      name: 'if its size is malformed',
      volumes: [volume('v1', 'plenty')],
      expected: noMatch,
    },
    {
      name: 'and the next larger one is chosen instead',
      volumes: [volume('v5', '5Gi', { phase: 'Released' }), volume('v6', '6Gi')],
      expected: gets('v6'),
    },
  ]);
});

describe('a volume serves', () => {
  const selector = {
    matchExpressions: [{ key: 'tier', operator: 'In' as const, values: ['fast', 'faster'] }],
  };
  const metadata = { name: 'v1', uid: 'uid-v1', resourceVersion: '1', labels: { tier: 'fast' } };
  expectBoth([
    {
      name: 'a claim that requests fewer access modes than it offers',
      volumes: [volume('v1', '5Gi', { spec: { accessModes: ['ReadWriteMany', 'ReadWriteOnce'] } })],
      expected: gets('v1'),
    },
    {
      name: 'a claim that requests no access mode',
      volumes: [volume('v1', '5Gi')],
      claim: claim('data', '5Gi', { spec: { accessModes: [] } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim of the same volume attributes class',
      volumes: [volume('v1', '5Gi', { spec: { volumeAttributesClassName: 'gold' } })],
      claim: claim('data', '5Gi', { spec: { volumeAttributesClassName: 'gold' } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim whose volume attributes class is empty if it has none',
      volumes: [volume('v1', '5Gi')],
      claim: claim('data', '5Gi', { spec: { volumeAttributesClassName: '' } }),
      expected: gets('v1'),
    },
    {
      name: 'a block claim if it is a block device',
      volumes: [volume('v1', '5Gi', { spec: { volumeMode: 'Block' } })],
      claim: claim('data', '5Gi', { spec: { volumeMode: 'Block' } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim with mode Filesystem if it has no mode',
      volumes: [volume('v1', '5Gi')],
      claim: claim('data', '5Gi', { spec: { volumeMode: 'Filesystem' } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim whose selector it matches',
      volumes: [volume('v1', '5Gi', { metadata })],
      claim: claim('data', '5Gi', { spec: { selector } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim whose selector is empty',
      volumes: [volume('v1', '5Gi')],
      claim: claim('data', '5Gi', { spec: { selector: {} } }),
      expected: gets('v1'),
    },
    {
      name: 'a claim by the beta annotation of its class, which wins over the spec',
      volumes: [volume('v1', '5Gi', { className: 'other' })],
      claim: claim('data', '5Gi', {
        metadata: {
          namespace: 'default',
          name: 'data',
          uid: 'uid-data',
          resourceVersion: '1',
          annotations: { [annotations.betaStorageClass]: 'other' },
        },
      }),
      expected: gets('v1'),
    },
    {
      name: 'a claim by the beta annotation of its own class',
      volumes: [
        volume('v1', '5Gi', {
          className: 'other',
          metadata: { ...metadata, annotations: { [annotations.betaStorageClass]: 'local' } },
        }),
      ],
      expected: gets('v1'),
    },
    {
      name: 'a claim by one matching term of its affinity, although another is malformed',
      volumes: [
        volume('v1', '5Gi', {
          terms: [
            { matchExpressions: [{ key: hostname, operator: 'Exists', values: ['n1'] }] },
            labelIn(hostname, 'n1'),
          ],
        }),
      ],
      expected: gets('v1'),
    },
  ]);
});

test('a reserved volume stays with its claim, whatever volume of the same size comes', () => {
  const index = clusterOf({
    Node: [node('n1')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [volume('v5', '5Gi')],
    PersistentVolumeClaim: [claim('data', '5Gi'), claim('other', '5Gi')],
  });
  new Ledger(index).reserve(expectPlacement(index, pod('p', ['data'])));
  index.upsert('PersistentVolume', volume('v1', '5Gi'));
  for (let again = 0; again < 50; again++) {
    expect(planOutcome(index, pod('second', ['data']))).toEqual(gets('v5'));
  }
  expect(planOutcome(index, pod('third', ['other']))).toEqual({
    node: 'n1',
    volumes: { other: 'v1' },
    pools: {},
  });
});
