/**
 * Headroom N of a large N, against the scheduling of all replicas together: with N + 1 of them, N get a node and one does not. `headroom.property.test.ts` compares
 * small numbers with the real scheduler.
 */
import { expect, test } from 'vitest';
import {
  csiDriver,
  csiNode,
  drive,
  driveNode,
  localVolume,
  storageCapacity,
  storageClass,
  zone,
} from '../../engine/testing/objects.ts';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Node } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { makePlan } from '../plan/make-plan.ts';
import { nodeWith, parallelSet, viewOf } from '../testing/cluster-views.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { measureRoom } from './measure.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const driver = 'pools.example.com';
const workload = { kind: 'StatefulSet', namespace: 'default', name: 'db' } as const;

/** A set without members, whose claims are of this class and size. */
function emptySet(storageClassName: string, storage: string): StatefulSet {
  const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'main' }] } };
  return parallelSet(0, template, { storageClassName, resources: { requests: { storage } } });
}

function withPods(node: Node, pods: number): Node {
  const allocatable = { cpu: '64', memory: '64Gi', pods: String(pods) };
  return { ...node, status: { ...node.status, allocatable } };
}

const named = (count: number) => Array.from({ length: count }, (_, at) => `n${at + 1}`);

function oneNode(pods: number, attachLimit: number | undefined): ClusterView {
  return viewOf({
    Node: [withPods(nodeWith('n1', '64', { [zone]: 'a' }), pods)],
    CSINode: [csiNode('n1', { [driver]: attachLimit })],
    StorageClass: [storageClass('pools', { provisioner: driver })],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: [
      storageCapacity('a', 'pools', { capacity: '9Ti', nodeTopology: { matchLabels: { [zone]: 'a' } } }),
    ],
    StatefulSet: [emptySet('pools', '1Gi')],
  });
}

/** Three nodes in each of four zones; in two of the zones pods run out before their pool does. */
function zonalPools(): ClusterView {
  const zones = { a: '90Gi', b: '1Ti', c: '301Gi', d: '2Ti' };
  const [names, capacities] = [Object.keys(zones), Object.values(zones)];
  return viewOf({
    Node: names.flatMap((name) =>
      named(3).map((node) => withPods(nodeWith(`${node}-${name}`, '64', { [zone]: name }), 70)),
    ),
    StorageClass: [storageClass('pools', { provisioner: driver })],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: names.map((name, at) =>
      storageCapacity(name, 'pools', {
        capacity: capacities[at]!,
        nodeTopology: { matchLabels: { [zone]: name } },
      }),
    ),
    StatefulSet: [emptySet('pools', '2Gi')],
  });
}

/** Drives of three sizes on twenty nodes, of which a fifth is kept for growth. */
function reservedDrives(): ClusterView {
  const nodes = named(20);
  const drives = storageClass('drives', { provisioner: 'drives.stowage.dev' });
  return viewOf({
    Node: nodes.map((name) => withPods(driveNode(name), 110)),
    StorageClass: [
      { ...drives, metadata: { ...drives.metadata, annotations: { [annotations.growthReserve]: '20%' } } },
    ],
    CSIDriver: [csiDriver('drives.stowage.dev')],
    Drive: nodes.flatMap((node, at) => [
      drive(`${node}-a`, 100 + (at % 3) * 50, { node }),
      drive(`${node}-b`, 41, { node }),
    ]),
    StatefulSet: [emptySet('drives', '5Gi')],
  });
}

/** Local disks, every third of which is too small. */
function localDisks(): ClusterView {
  const nodes = named(12);
  return viewOf({
    Node: nodes.map((name) => withPods(nodeWith(name, '64'), 40)),
    StorageClass: [storageClass('local')],
    PersistentVolume: nodes.flatMap((node) =>
      Array.from({ length: 50 }, (_, at) =>
        localVolume(`${node}-disk${at}`, at % 3 === 0 ? '4Gi' : '10Gi', node),
      ),
    ),
    StatefulSet: [emptySet('local', '5Gi')],
  });
}

const cases = [
  ['pods of one node', oneNode(600, undefined), 600],
  ['attach slots of one node', oneNode(5_000, 300), 300],
  ['pools and pods of zones', zonalPools(), 45 + 210 + 150 + 210],
  ['drives with a growth reserve', reservedDrives(), 20 * 6 + 7 * 16 + 7 * 24 + 6 * 32],
  ['local disks', localDisks(), 12 * 33],
] as const;

test.each(cases)('headroom N means that N fit and N + 1 do not: %s', (_, view, expected) => {
  const size = { text: '1Gi', bytes: 2 ** 30 };
  const [row] = measureRoom(view, { ...options, size, like: workload, countMax: 10_000 }).rows;
  const { moves, stranded } = makePlan(
    view,
    [{ kind: 'scale', workload, replicas: row!.count + 1 }],
    options,
  );
  expect([row!.count, moves.length, stranded.length]).toEqual([expected, row!.count, 1]);
});
