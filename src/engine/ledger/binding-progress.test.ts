import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import type { Placement } from '../plan.ts';
import { clusterOf } from '../testing/cluster.ts';
import { expectPlacement } from '../testing/expect-plan.ts';
import { type IndexEvent, removed, upserted } from '../testing/index-events.ts';
import { boundClaim, claim, claimRefTo, localVolume, node, pod, storageClass } from '../testing/objects.ts';
import { bindingProgress, podProblem, provisionProgress, type VolumeProgress } from './binding-progress.ts';

const later = { version: '2' };
const deleting = { deletionTimestamp: '2025-01-01T00:00:00Z' };
const claimedByData = { spec: claimRefTo('data', 'uid-data'), ...later };
const made = { className: 'made', ...later };

/** `data` gets the disk v1 of n1, and `new` a volume that is provisioned there. */
function start(profile = stowageProfile): { readonly index: ClusterIndex; readonly placement: Placement } {
  const objects = {
    Node: [node('n1'), node('n2')],
    StorageClass: [storageClass('local'), storageClass('made', { provisioner: 'maker.example.com' })],
    PersistentVolume: [localVolume('v1', '5Gi', 'n1')],
    PersistentVolumeClaim: [claim('data', '5Gi'), claim('new', '5Gi', { className: 'made' })],
    Pod: [pod('web', ['data', 'new'])],
  };
  const index = clusterOf(objects, profile);
  return { index, placement: expectPlacement(index, pod('web', ['data', 'new'])) };
}

interface Case {
  readonly name: string;
  readonly events: readonly IndexEvent[];
  /** `bound`, `waiting`, or the problem. */
  readonly expected: string;
}

const selected = upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, selectedNode: 'n1' }));

function textOf(progress: VolumeProgress): string {
  if (progress.kind !== 'failed') return progress.kind;
  return progress.isProvisioning ? `${progress.problem}, for this node` : progress.problem;
}

describe('a claim that gets a new volume', () => {
  const cases: readonly Case[] = [
    { name: 'waits for the provisioner', events: [selected], expected: 'waiting' },
    {
      name: 'waits for a volume that the index does not have yet',
      events: [upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made))],
      expected: 'waiting',
    },
    {
      name: 'is bound',
      events: [
        upserted('PersistentVolume', localVolume('v2', '5Gi', 'n1', made)),
        upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made)),
      ],
      expected: 'bound',
    },
    {
      name: 'got a volume of another node',
      events: [
        upserted('PersistentVolume', localVolume('v2', '5Gi', 'n2', made)),
        upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made)),
      ],
      expected: `pv "v2" node affinity doesn't match node "n1"`,
    },
    {
      name: 'was refused by its provisioner',
      events: [upserted('PersistentVolumeClaim', claim('new', '5Gi', made))],
      expected: 'provisioning failed for PVC "new", for this node',
    },
    {
      name: 'has another selected node',
      events: [upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, selectedNode: 'n2' }))],
      expected: 'provisioning failed for PVC "new"',
    },
    {
      name: 'is gone',
      events: [removed('PersistentVolumeClaim', 'default/new')],
      expected: 'PersistentVolumeClaim default/new is gone',
    },
    {
      name: 'was replaced by another object of the same name',
      events: [
        upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, metadata: { uid: 'other' } })),
      ],
      expected: 'PersistentVolumeClaim default/new is gone',
    },
    {
      name: 'is being deleted',
      events: [upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, metadata: deleting }))],
      expected: 'PersistentVolumeClaim default/new is being deleted',
    },
    {
      name: 'lost its volume',
      events: [
        upserted('PersistentVolumeClaim', {
          ...boundClaim('new', '5Gi', 'v2', made),
          status: { phase: 'Lost' },
        }),
      ],
      expected: 'PersistentVolumeClaim default/new has lost its volume "v2"',
    },
  ];

  test.each(cases)('$name', ({ events, expected }) => {
    const { index, placement } = start();
    for (const event of events) event(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe(expected);
  });
});

describe('a new volume that names its claim, before the claim names it', () => {
  const names = claimRefTo('new', 'uid-new');
  const volumeWith = (size: string, spec: PersistentVolume['spec'], node = 'n1') =>
    localVolume('v2', size, node, { ...made, spec: { ...names, ...spec } });
  const cases: readonly (readonly [string, PersistentVolume, string])[] = [
    ['counts as bound', volumeWith('5Gi', {}), 'bound'],
    [
      'does not help where its node cannot reach it',
      volumeWith('5Gi', {}, 'n2'),
      `pv "v2" node affinity doesn't match node "n1"`,
    ],
    ['is ignored under another uid', volumeWith('5Gi', claimRefTo('new', 'uid-other')), 'waiting'],
    ['is ignored if it is too small', volumeWith('4Gi', {}), 'waiting'],
    ['is ignored in another mode', volumeWith('5Gi', { volumeMode: 'Block' }), 'waiting'],
    ['is ignored if it cannot be used as asked', volumeWith('5Gi', { accessModes: [] }), 'waiting'],
    ['is ignored in another class', volumeWith('5Gi', { storageClassName: 'local' }), 'waiting'],
    [
      'is ignored when it is being deleted',
      { ...volumeWith('5Gi', {}), metadata: { name: 'v2', ...deleting } },
      'waiting',
    ],
    ['is ignored in phase Released', { ...volumeWith('5Gi', {}), status: { phase: 'Released' } }, 'waiting'],
  ];

  test.each(cases)('%s', (_, volume, expected) => {
    const { index, placement } = start();
    for (const event of [selected, upserted('PersistentVolume', volume)]) event(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe(expected);
  });

  test('is waited for until the claim is bound, in the profile of kube-scheduler', () => {
    const { index, placement } = start({ ...stowageProfile, completesBindings: false });
    for (const event of [selected, upserted('PersistentVolume', volumeWith('5Gi', {}))]) event(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe('waiting');
  });
});

describe('a claim that gets an existing volume', () => {
  const claimed = upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', claimedByData));
  const cases: readonly Case[] = [
    { name: 'waits for the PV controller', events: [claimed], expected: 'waiting' },
    {
      name: 'is bound',
      events: [claimed, upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v1', later))],
      expected: 'bound',
    },
    {
      name: 'names its volume, and the binding is not complete',
      events: [
        claimed,
        upserted('PersistentVolumeClaim', claim('data', '5Gi', { ...later, spec: { volumeName: 'v1' } })),
      ],
      expected: 'waiting',
    },
    {
      name: 'was bound to another volume',
      events: [claimed, upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v9', later))],
      expected: 'PersistentVolumeClaim default/data was bound to "v9", not to "v1"',
    },
    {
      name: 'has its volume deleted, even when it was bound',
      events: [
        upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v1', later)),
        removed('PersistentVolume', 'v1'),
      ],
      expected: 'PersistentVolume v1 is gone',
    },
    {
      name: 'has its claimRef cleared',
      events: [upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', later))],
      expected: 'ClaimRef got reset for pv "v1"',
    },
    {
      name: 'has its claimRef reset to a name',
      events: [
        upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', { ...later, spec: claimRefTo('data') })),
      ],
      expected: 'ClaimRef got reset for pv "v1"',
    },
    {
      name: 'has its volume moved',
      events: [upserted('PersistentVolume', localVolume('v1', '5Gi', 'n2', claimedByData))],
      expected: `pv "v1" node affinity doesn't match node "n1"`,
    },
    {
      name: 'is being rolled back',
      events: [
        claimed,
        upserted(
          'PersistentVolumeClaim',
          claim('data', '5Gi', { ...later, metadata: { annotations: { [annotations.rollback]: 'yes' } } }),
        ),
      ],
      expected: 'PersistentVolumeClaim default/data is being rolled back',
    },
  ];

  test.each(cases)('$name', ({ events, expected }) => {
    const { index, placement } = start();
    for (const event of events) event(index);
    expect(textOf(bindingProgress(index, placement.bindings[0]!, placement.node))).toBe(expected);
  });
});

describe('the pod itself', () => {
  const at = (rest: object) => ({ ...pod('web', ['data', 'new'], later), ...rest });
  const metadata = pod('web', [], later).metadata!;
  const cases: readonly { name: string; event: IndexEvent; expected: string | undefined }[] = [
    { name: 'can be bound', event: upserted('Pod', at({})), expected: undefined },
    { name: 'is gone', event: removed('Pod', 'default/web'), expected: 'pod default/web is gone' },
    {
      name: 'was replaced by another object of the same name',
      event: upserted('Pod', at({ metadata: { ...metadata, uid: 'other' } })),
      expected: 'pod default/web is gone',
    },
    {
      name: 'is being deleted',
      event: upserted('Pod', at({ metadata: { ...metadata, ...deleting } })),
      expected: 'pod default/web is being deleted',
    },
    {
      name: 'has failed',
      event: upserted('Pod', at({ status: { phase: 'Failed' } })),
      expected: 'pod default/web has finished',
    },
    {
      name: 'was assigned to another node',
      event: upserted('Pod', pod('web', ['data', 'new'], { ...later, nodeName: 'n2' })),
      expected: 'pod default/web is already assigned to node "n2"',
    },
    { name: 'has lost its node', event: removed('Node', 'n1'), expected: 'node "n1" not found' },
  ];

  test.each(cases)('$name', ({ event, expected }) => {
    const { index, placement } = start();
    event(index);
    expect(podProblem(index, placement)).toBe(expected);
  });
});
