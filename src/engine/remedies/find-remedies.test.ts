import { describe, expect, test } from 'vitest';
import type { Node, PersistentVolume, Pod, Taint } from '../../kube/api/core.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import type { ClusterObjects } from '../testing/cluster.ts';
import {
  claim,
  csiClass,
  csiDriver,
  csiNode,
  localVolume,
  node,
  pod,
  storageCapacity,
  storageClass,
} from '../testing/objects.ts';
import { remedyText } from './step-text.ts';
import { searchIn } from './testing/remedy-laws.ts';

function remediesFor(objects: ClusterObjects, refusedPod: Pod): string[] {
  return (searchIn(objects, refusedPod, stowageProfile)?.remedies ?? []).map(remedyText);
}

/** A node with this much cpu, and plenty of everything else. */
function nodeOf(
  name: string,
  cpu: string,
  spec: Node['spec'] = {},
  labels: Record<string, string> = {},
): Node {
  const plain = node(name, labels);
  return { ...plain, spec, status: { allocatable: { ...plain.status?.allocatable, cpu } } };
}

function podOf(name: string, cpu: string, more: Partial<Pod> = {}): Pod {
  const plain = pod(name, []);
  const containers = [{ name: 'main', resources: { requests: { cpu } } }];
  return {
    metadata: { ...plain.metadata, ...more.metadata },
    spec: { ...plain.spec, containers, ...more.spec },
  };
}

function ownedBy(kind: string, name: string) {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: name, controller: true }] };
}

describe('a volume of another claim', () => {
  const claimRef = { namespace: 'other', name: 'theirs', uid: 'uid-theirs' };
  const kept = (spec: PersistentVolume['spec'], phase: string): PersistentVolume => {
    const volume = localVolume('v', '10Gi', 'n1');
    return { ...volume, spec: { ...volume.spec, ...spec }, status: { phase: phase as 'Released' } };
  };

  test.each<[string, PersistentVolume, boolean]>([
    ['is offered when that claim is gone', kept({ claimRef }, 'Released'), true],
    [
      'is left alone while it is bound, because its claim may be invisible to us',
      kept({ claimRef }, 'Bound'),
      false,
    ],
    [
      'is left alone while it is reserved for a claim that does not exist yet',
      kept({ claimRef: { ...claimRef, uid: '' } }, 'Available'),
      false,
    ],
    [
      'is left alone when it is about to be deleted',
      kept({ claimRef, persistentVolumeReclaimPolicy: 'Delete' }, 'Released'),
      false,
    ],
  ])('%s', (_, volume, isOffered) => {
    const objects = {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [volume],
      PersistentVolumeClaim: [claim('data', '5Gi')],
    };
    const texts = remediesFor(objects, pod('p', ['data'])).filter((text) => text.includes('claimRef'));
    expect(texts.length > 0).toBe(isOffered);
    for (const text of texts) expect(text).toContain('the pod then gets the data that is left on it');
  });
});

describe('a taint', () => {
  const tainted = (...taints: Taint[]) => ({ Node: [nodeOf('n1', '4', { taints })] });
  const dedicated = { key: 'dedicated', value: 'db', effect: 'NoSchedule' } as const;
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

  test('that Kubernetes adds itself goes away with the condition of the node, and no other way', () => {
    const texts = remediesFor(tainted(notReady, dedicated), podOf('p', '1'));
    expect(texts).toEqual([
      'Remove taint dedicated=db:NoSchedule from node n1 and fix its condition, so that Kubernetes removes its taint node.kubernetes.io/not-ready:NoSchedule; the pod then fits on n1.',
    ]);
  });

  test('of a node that is being removed stays; a new node like it would not have the taint', () => {
    const removal = { key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' } as const;
    expect(remediesFor(tainted(removal), podOf('p', '1'))).toEqual([
      expect.stringMatching(/^Add a node like n1 /),
    ]);
  });
});

const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' } as const;

describe('a label', () => {
  const selecting = (nodeSelector: Record<string, string>) => podOf('p', '1', { spec: { nodeSelector } });

  test.each([
    'topology.kubernetes.io/zone',
    'topology.ebs.csi.aws.com/zone',
    'kubernetes.io/arch',
    'node-role.kubernetes.io/control-plane',
    'eks.amazonaws.com/nodegroup',
    'own.example.com/place',
  ])('that states what a node is does not change: %s', (key) => {
    const drivers = csiNode('n1', { 'own.csi': 5 });
    const [driver] = drivers.spec?.drivers ?? [];
    const objects = {
      Node: [node('n1', { [key]: 'a' })],
      CSINode: [{ ...drivers, spec: { drivers: [{ ...driver, topologyKeys: ['own.example.com/place'] }] } }],
    };
    expect(remediesFor(objects, selecting({ [key]: 'b' }))).toEqual([
      `Remove node selector ${key}=b from the pod; the pod then fits on n1.`,
    ]);
  });

  test('that replaces another one names both', () => {
    expect(remediesFor({ Node: [node('n1', { disk: 'hdd' })] }, selecting({ disk: 'ssd' }))).toEqual([
      'Remove node selector disk=ssd from the pod; the pod then fits on n1.',
      'Label node n1 with disk=ssd instead of disk=hdd; the pod then fits on n1.',
    ]);
  });

  test('comes after a toleration: other pods, and drivers, rely on what a node says of itself', () => {
    const dedicated = { ...node('n2', { disk: 'ssd' }), spec: { taints: [taint] } };
    const remedies = remediesFor(
      { Node: [node('n1', { disk: 'hdd' }), dedicated] },
      selecting({ disk: 'ssd' }),
    );
    const at = (start: string) => remedies.findIndex((text) => text.startsWith(start));
    expect(at('Label node n1')).toBeGreaterThan(at('Add toleration'));
    expect(at('Add toleration')).toBeGreaterThanOrEqual(0);
  });
});

describe('a new node', () => {
  test('runs the pods of DaemonSets', () => {
    const agent = podOf('agent', '500m', {
      metadata: ownedBy('DaemonSet', 'agent'),
      spec: { nodeName: 'n1' },
    });
    const busy = podOf('busy', '3', { spec: { nodeName: 'n1' } });
    const objects = { Node: [nodeOf('n1', '4')], Pod: [agent, busy] };
    const isNew = (text: string) => text.startsWith('Add a node like n1 (');
    expect(remediesFor(objects, podOf('p', '4')).some(isNew)).toBe(false);
    expect(remediesFor(objects, podOf('p', '3500m')).some(isNew)).toBe(true);
  });

  test('has the size that the pod needs, if no existing node is large enough; no node grows by that much', () => {
    const huge = podOf('p', '100');
    const memory = { cpu: '100', memory: '9Ti' };
    const objects = { Node: [nodeOf('n1', '4'), nodeOf('n2', '8')] };
    expect(remediesFor(objects, huge)).toEqual([
      'Add a node like n2, but with cpu 100 (n2 has 8); the pod then fits on new-node.',
      "Lower the pod's cpu request from 100 to 8; the pod then fits on n2.",
    ]);
    const large = { ...huge, spec: { containers: [{ name: 'main', resources: { requests: memory } }] } };
    expect(remediesFor(objects, large)[0]).toMatch(
      /^Add a node like n2, but with cpu 100 \(n2 has 8\) and memory 9Ti \(n2 has \S+\); the pod then fits on new-node\.$/,
    );
  });

  test('is not needed if a node lacks little', () => {
    const texts = remediesFor({ Node: [nodeOf('n1', '4')] }, podOf('p', '5'));
    expect(texts).toContain('Add 1 cpu to node n1 (it has 4); the pod then fits on n1.');
  });

  test('is like the nodes that the pod selects, wherever they are in the list', () => {
    const busy = (name: string) => podOf(`on-${name}`, '4', { spec: { nodeName: name } });
    const objects = {
      Node: [nodeOf('a', '4'), nodeOf('b', '4', {}, { disk: 'ssd' })],
      Pod: [busy('a'), busy('b')],
    };
    const texts = remediesFor(objects, podOf('p', '4', { spec: { nodeSelector: { disk: 'ssd' } } }));
    expect(texts[0]).toMatch(/^Add a node like b /);
  });
});

describe('another pod', () => {
  const on = (name: string, more: Pod['metadata'] = {}) =>
    podOf(name, '3', { metadata: more, spec: { nodeName: 'n1' } });

  test('that is being deleted is waited for, before anything else is tried', () => {
    const objects = {
      Node: [nodeOf('n1', '4')],
      Pod: [on('deleting', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    };
    const texts = remediesFor(objects, podOf('p', '3'));
    expect(texts[0]).toBe(
      'Wait until pod default/deleting, which is being deleted, is gone; the pod then fits on n1.',
    );
    expect(texts.some((text) => text.startsWith('Remove'))).toBe(false);
  });

  test('is recreated unless its owner is scaled down', () => {
    const objects = { Node: [nodeOf('n1', '4')], Pod: [on('web-1', ownedBy('ReplicaSet', 'web'))] };
    expect(remediesFor(objects, podOf('p', '3')).at(-1)).toBe(
      'Remove pod default/web-1 (scale down ReplicaSet web, which would otherwise recreate it); the pod then fits on n1.',
    );
  });
});

describe('amounts', () => {
  test('of a request do not include the overhead of the runtime class', () => {
    const asking = podOf('p', '5', { spec: { overhead: { cpu: '250m' } } });
    expect(remediesFor({ Node: [nodeOf('n1', '4')] }, asking)).toContain(
      "Lower the pod's cpu request from 5 to 3.75; the pod then fits on n1.",
    );
  });

  test('of a request are never lowered to 0', () => {
    const full = podOf('full', '4', { metadata: ownedBy('DaemonSet', 'full'), spec: { nodeName: 'n1' } });
    const texts = remediesFor({ Node: [nodeOf('n1', '4')], Pod: [full] }, podOf('p', '1'));
    expect(texts).toEqual([
      'Add a node like n1, but with cpu 5 (n1 has 4); the pod then fits on new-node.',
      'Add 1 cpu to node n1 (it has 4); the pod then fits on n1.',
    ]);
  });

  test('that are close to each other have different texts', () => {
    const objects = {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: [localVolume('v', '5Gi', 'n1')],
      PersistentVolumeClaim: [claim('data', String(5 * 2 ** 30 + 1))],
    };
    expect(remediesFor(objects, pod('p', ['data']))).toContain(
      'Lower the storage request of claim default/data from 5.01Gi to 5Gi (recreate the claim: a claim cannot shrink); the pod then fits on n1.',
    );
  });
});

describe('storage', () => {
  const poolOf = (free: string, largest: string) => ({
    Node: [node('n1')],
    CSIDriver: [csiDriver('d')],
    StorageClass: [csiClass('d', 'dyn')],
    CSIStorageCapacity: [storageCapacity('c', 'dyn', { capacity: free, maximumVolumeSize: largest })],
    PersistentVolumeClaim: [claim('data', '20Ti', { className: 'dyn' })],
  });

  test.each<[string, string, string, boolean]>([
    ['helps if the maximum volume size is the free capacity', '16Ti', '16Ti', true],
    ['does not raise a limit of the driver', '100Ti', '16Ti', false],
    ['does not raise a limit of the driver that is not reached yet', '1Ti', '16Ti', false],
  ])('that is added %s', (_, free, largest, helps) => {
    const texts = remediesFor(poolOf(free, largest), pod('p', ['data']));
    expect(texts.some((text) => text.startsWith('Grow'))).toBe(helps);
  });

  test('of a class with a provisioner is added to the pool, before a volume is created by hand', () => {
    const actions = searchIn(poolOf('16Ti', '16Ti'), pod('p', ['data']), stowageProfile)?.remedies.map(
      ({ steps }) => steps[0]?.action,
    );
    expect(actions).toEqual(['GrowPool', 'ShrinkClaim', 'CreateVolume']);
  });

  test('that is created by hand: the text has everything that the claim requires', () => {
    const asked = claim('data', '5Gi', {
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        selector: { matchLabels: { tier: 'gold' } },
      },
    });
    const objects = {
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolumeClaim: [asked],
      // It has the name that the new volume would get.
      PersistentVolume: [localVolume('for-data', '1Gi', 'n1')],
    };
    const search = searchIn(objects, pod('p', ['data']), stowageProfile);
    expect(search?.remedies.map(remedyText)).toEqual([
      'Create a PersistentVolume of 5Gi, class local, access mode ReadWriteMany, volume mode Block, labelled tier=gold, that node n1 can reach; the pod then fits on n1.',
    ]);
    expect(search?.remedies[0]?.steps[0]?.object.name).toBe('for-data-2');
  });
});
