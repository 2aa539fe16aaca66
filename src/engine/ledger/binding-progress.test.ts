import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import type { Placement } from '../plan.ts';
import { clusterOf } from '../testing/cluster.ts';
import { expectPlacement } from '../testing/expect-plan.ts';
import { type IndexEvent, removed, upserted } from '../testing/index-events.ts';
import { boundClaim, claim, localVolume, node, pod, reservedFor, storageClass } from '../testing/objects.ts';
import { bindingProgress, podProblem, provisionProgress, type VolumeProgress } from './binding-progress.ts';

const later = { version: '2' };
const going = { deletionTimestamp: '2025-01-01T00:00:00Z' };
const ofData = { spec: reservedFor('data', 'uid-data'), ...later };
const made = { className: 'made', ...later };

/** `data` gets the disk v1 of n1, and `new` a volume that is made there. */
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
  readonly happenings: readonly IndexEvent[];
  /** The problem, where it is neither bound nor waited for. */
  readonly expected: string;
}

const selected = upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, selectedNode: 'n1' }));

function textOf(progress: VolumeProgress): string {
  if (progress.kind !== 'failed') return progress.kind;
  return progress.isProvisioning ? `${progress.problem}, for this node` : progress.problem;
}

describe('a claim that gets a new volume', () => {
  const cases: readonly Case[] = [
    { name: 'waits for the provisioner', happenings: [selected], expected: 'waiting' },
    {
      name: 'waits for a volume that is not to be seen yet',
      happenings: [upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made))],
      expected: 'waiting',
    },
    {
      name: 'is bound',
      happenings: [
        upserted('PersistentVolume', localVolume('v2', '5Gi', 'n1', made)),
        upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made)),
      ],
      expected: 'bound',
    },
    {
      name: 'got a volume of another node',
      happenings: [
        upserted('PersistentVolume', localVolume('v2', '5Gi', 'n2', made)),
        upserted('PersistentVolumeClaim', boundClaim('new', '5Gi', 'v2', made)),
      ],
      expected: `pv "v2" node affinity doesn't match node "n1"`,
    },
    {
      name: 'was refused by its provisioner',
      happenings: [upserted('PersistentVolumeClaim', claim('new', '5Gi', made))],
      expected: 'provisioning failed for PVC "new", for this node',
    },
    {
      name: 'was given another node by somebody',
      happenings: [upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, selectedNode: 'n2' }))],
      expected: 'provisioning failed for PVC "new"',
    },
    {
      name: 'is gone',
      happenings: [removed('PersistentVolumeClaim', 'default/new')],
      expected: 'PersistentVolumeClaim default/new is gone',
    },
    {
      name: 'is another of its name',
      happenings: [
        upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, metadata: { uid: 'other' } })),
      ],
      expected: 'PersistentVolumeClaim default/new is gone',
    },
    {
      name: 'is on its way out',
      happenings: [upserted('PersistentVolumeClaim', claim('new', '5Gi', { ...made, metadata: going }))],
      expected: 'PersistentVolumeClaim default/new is being deleted',
    },
    {
      name: 'lost its volume',
      happenings: [
        upserted('PersistentVolumeClaim', {
          ...boundClaim('new', '5Gi', 'v2', made),
          status: { phase: 'Lost' },
        }),
      ],
      expected: 'PersistentVolumeClaim default/new has lost its volume "v2"',
    },
  ];

  test.each(cases)('$name', ({ happenings, expected }) => {
    const { index, placement } = start();
    for (const happen of happenings) happen(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe(expected);
  });
});

describe('a new volume that names its claim, before the claim names it', () => {
  const names = reservedFor('new', 'uid-new');
  const volumeWith = (size: string, spec: PersistentVolume['spec'], node = 'n1') =>
    localVolume('v2', size, node, { ...made, spec: { ...names, ...spec } });
  const cases: readonly (readonly [string, PersistentVolume, string])[] = [
    ['is as good as bound', volumeWith('5Gi', {}), 'bound'],
    [
      'does not help where its node cannot reach it',
      volumeWith('5Gi', {}, 'n2'),
      `pv "v2" node affinity doesn't match node "n1"`,
    ],
    ['is none of it under another uid', volumeWith('5Gi', reservedFor('new', 'uid-other')), 'waiting'],
    ['is none of it if it is too small', volumeWith('4Gi', {}), 'waiting'],
    ['is none of it in another mode', volumeWith('5Gi', { volumeMode: 'Block' }), 'waiting'],
    ['is none of it if it cannot be used as asked', volumeWith('5Gi', { accessModes: [] }), 'waiting'],
    ['is none of it in another class', volumeWith('5Gi', { storageClassName: 'local' }), 'waiting'],
    [
      'is none of it when it is being deleted',
      { ...volumeWith('5Gi', {}), metadata: { name: 'v2', ...going } },
      'waiting',
    ],
    ['is none of it after its end', { ...volumeWith('5Gi', {}), status: { phase: 'Released' } }, 'waiting'],
  ];

  test.each(cases)('%s', (_, volume, expected) => {
    const { index, placement } = start();
    for (const happen of [selected, upserted('PersistentVolume', volume)]) happen(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe(expected);
  });

  test('is waited for until the claim is bound, where kube-scheduler would', () => {
    const { index, placement } = start({ ...stowageProfile, completesBindings: false });
    for (const happen of [selected, upserted('PersistentVolume', volumeWith('5Gi', {}))]) happen(index);
    expect(textOf(provisionProgress(index, placement.provisions[0]!, placement.node))).toBe('waiting');
  });
});

describe('a claim that gets an existing volume', () => {
  const claimed = upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', ofData));
  const cases: readonly Case[] = [
    { name: 'waits for the PV controller', happenings: [claimed], expected: 'waiting' },
    {
      name: 'is bound',
      happenings: [claimed, upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v1', later))],
      expected: 'bound',
    },
    {
      name: 'names its volume, and the binding is not complete',
      happenings: [
        claimed,
        upserted('PersistentVolumeClaim', claim('data', '5Gi', { ...later, spec: { volumeName: 'v1' } })),
      ],
      expected: 'waiting',
    },
    {
      name: 'took another volume',
      happenings: [claimed, upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v9', later))],
      expected: 'PersistentVolumeClaim default/data was bound to "v9", not to "v1"',
    },
    {
      name: 'has its volume deleted, even when it was bound',
      happenings: [
        upserted('PersistentVolumeClaim', boundClaim('data', '5Gi', 'v1', later)),
        removed('PersistentVolume', 'v1'),
      ],
      expected: 'PersistentVolume v1 is gone',
    },
    {
      name: 'has its claimRef cleared',
      happenings: [upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', later))],
      expected: 'ClaimRef got reset for pv "v1"',
    },
    {
      name: 'has its claimRef reset to a name',
      happenings: [
        upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', { ...later, spec: reservedFor('data') })),
      ],
      expected: 'ClaimRef got reset for pv "v1"',
    },
    {
      name: 'has its volume moved',
      happenings: [upserted('PersistentVolume', localVolume('v1', '5Gi', 'n2', ofData))],
      expected: `pv "v1" node affinity doesn't match node "n1"`,
    },
    {
      name: 'is being rolled back',
      happenings: [
        claimed,
        upserted(
          'PersistentVolumeClaim',
          claim('data', '5Gi', { ...later, metadata: { annotations: { [annotations.rollback]: 'yes' } } }),
        ),
      ],
      expected: 'PersistentVolumeClaim default/data is being rolled back',
    },
  ];

  test.each(cases)('$name', ({ happenings, expected }) => {
    const { index, placement } = start();
    for (const happen of happenings) happen(index);
    expect(textOf(bindingProgress(index, placement.bindings[0]!, placement.node))).toBe(expected);
  });
});

describe('the pod itself', () => {
  const at = (rest: object) => ({ ...pod('web', ['data', 'new'], later), ...rest });
  const metadata = pod('web', [], later).metadata!;
  const cases: readonly { name: string; happening: IndexEvent; expected: string | undefined }[] = [
    { name: 'may go on', happening: upserted('Pod', at({})), expected: undefined },
    { name: 'is gone', happening: removed('Pod', 'default/web'), expected: 'pod default/web is gone' },
    {
      name: 'is another of its name',
      happening: upserted('Pod', at({ metadata: { ...metadata, uid: 'other' } })),
      expected: 'pod default/web is gone',
    },
    {
      name: 'is being deleted',
      happening: upserted('Pod', at({ metadata: { ...metadata, ...going } })),
      expected: 'pod default/web is being deleted',
    },
    {
      name: 'has failed',
      happening: upserted('Pod', at({ status: { phase: 'Failed' } })),
      expected: 'pod default/web is over',
    },
    {
      name: 'was put on another node',
      happening: upserted('Pod', pod('web', ['data', 'new'], { ...later, nodeName: 'n2' })),
      expected: 'pod default/web is already assigned to node "n2"',
    },
    { name: 'has lost its node', happening: removed('Node', 'n1'), expected: 'node "n1" not found' },
  ];

  test.each(cases)('$name', ({ happening, expected }) => {
    const { index, placement } = start();
    happening(index);
    expect(podProblem(index, placement)).toBe(expected);
  });
});
