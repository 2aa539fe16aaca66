import { describe, expect, test } from 'vitest';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { Node, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { stowageProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectReservation, verdictOf } from '../../testing/expect-plan.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import {
  atVersion,
  boundClaim,
  type ClaimBuilderOptions,
  claim,
  claimRefTo,
  csiClass,
  ephemeralVolume,
  hostname,
  localVolume,
  node,
  ownedBy,
  pod,
} from '../../testing/objects.ts';
import { expectWakeCases } from '../../testing/wake-cases.ts';
import { Ledger } from '../../testing/whole-engine.ts';

function classWith(apart: string | undefined) {
  const made = csiClass('any.csi', 'fast');
  if (apart === undefined) return made;
  return {
    ...made,
    metadata: { ...made.metadata, annotations: { [annotations.volumeAntiAffinity]: apart } },
  };
}

const zoned = (name: string, zone: string): Node => node(name, { [hostname]: name, [labels.zone]: zone });

const nodes = [zoned('n1', 'a'), zoned('n2', 'a'), zoned('n3', 'b')];

function statefulSet(name: string): StatefulSet {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1' },
    spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }, { metadata: { name: 'log' } }] },
  } as unknown as StatefulSet;
}

const fresh = (name: string, options: ClaimBuilderOptions = {}) =>
  claim(name, '1Gi', { className: 'fast', ...options });

/** The pod, to be placed on one node only. */
const on = (nodeName: string, one: Pod): Pod => ({
  ...one,
  spec: { ...one.spec, nodeSelector: { [hostname]: nodeName } },
});

/** A claim of the set whose volume is on the node. */
function placed(name: string, at: string) {
  return {
    claim: boundClaim(name, '1Gi', `pv-${name}`, { className: 'fast' }),
    volume: localVolume(`pv-${name}`, '1Gi', at, {
      className: 'fast',
      spec: claimRefTo(name, `uid-${name}`),
      phase: 'Bound',
    }),
  };
}

interface Scene {
  readonly apart: string | undefined;
  readonly siblings?: Readonly<Record<string, string>>;
  readonly claims: readonly PersistentVolumeClaim[];
}

function scene({ apart, siblings = {}, claims }: Scene): ClusterObjects {
  const others = Object.entries(siblings).map(([name, at]) => placed(name, at));
  return {
    Node: nodes,
    StorageClass: [classWith(apart)],
    StatefulSet: [statefulSet('db'), statefulSet('other')],
    PersistentVolume: others.map(({ volume }) => volume),
    PersistentVolumeClaim: [...others.map((each) => each.claim), ...claims],
  };
}

const onNode = '1 node(s) had a volume of the same owner';
const inZone = 'node(s) were in a zone with a volume of the same owner';

describe('volumes of one StatefulSet', () => {
  test('are kept on different nodes', () => {
    const objects = scene({
      apart: 'nodes',
      siblings: { 'data-db-0': 'n1', 'data-db-1': 'n2' },
      claims: [fresh('data-db-2')],
    });
    expect(expectPlacement(clusterOf(objects), pod('db-2', ['data-db-2'])).node).toBe('n3');
  });

  test('are kept in different zones', () => {
    const objects = scene({ apart: 'zones', siblings: { 'data-db-0': 'n1' }, claims: [fresh('data-db-1')] });
    expect(expectPlacement(clusterOf(objects), pod('db-1', ['data-db-1'])).node).toBe('n3');
  });

  test('leave no node when all have one, and the message says why', () => {
    const siblings = { 'data-db-0': 'n1', 'data-db-1': 'n2', 'data-db-2': 'n3' };
    const byNode = scene({ apart: 'nodes', siblings, claims: [fresh('data-db-3')] });
    expect(verdictOf(clusterOf(byNode), pod('db-3', ['data-db-3']))).toContain(
      '3 node(s) had a volume of the same owner',
    );
    const byZone = scene({
      apart: 'zones',
      siblings: { 'data-db-0': 'n1', 'data-db-2': 'n3' },
      claims: [fresh('data-db-3')],
    });
    expect(verdictOf(clusterOf(byZone), pod('db-3', ['data-db-3']))).toContain(`3 ${inZone}`);
    expect(
      verdictOf(
        clusterOf(byZone, { ...stowageProfile, honoursVolumePolicies: false }),
        pod('db-3', ['data-db-3']),
      ),
    ).toBe('fits');
  });

  test('of another template count, and those of another set or namespace do not', () => {
    const apart = 'nodes';
    const siblings = { 'log-db-0': 'n1', 'data-other-0': 'n2' };
    const index = clusterOf(scene({ apart, siblings, claims: [fresh('data-db-1')] }));
    const [n1, n2] = ['n1', 'n2'].map((name) => verdictOf(index, on(name, pod('db-1', ['data-db-1']))));
    expect(n1).toContain(onNode);
    expect(n2).toBe('fits');
  });

  test('of the pod itself are on one node', () => {
    const objects = scene({ apart: 'nodes', siblings: { 'log-db-1': 'n2' }, claims: [fresh('data-db-1')] });
    expect(expectPlacement(clusterOf(objects), pod('db-1', ['data-db-1', 'log-db-1'])).node).toBe('n2');
  });

  test('that are promised or being provisioned count as well', () => {
    const index = clusterOf(scene({ apart: 'nodes', claims: [fresh('data-db-0'), fresh('data-db-1')] }));
    const first = expectPlacement(index, pod('db-0', ['data-db-0']));
    expectReservation(new Ledger(index), first);
    expect(expectPlacement(index, pod('db-1', ['data-db-1'])).node).not.toBe(first.node);
    const selected = fresh('data-db-0', { selectedNode: 'n1' });
    const restarted = clusterOf(scene({ apart: 'nodes', claims: [selected, fresh('data-db-1')] }));
    expect(verdictOf(restarted, on('n1', pod('db-1', ['data-db-1'])))).toContain(onNode);
  });

  test('that are being provisioned already are not refused their node', () => {
    const pinned = fresh('data-db-1', { selectedNode: 'n1' });
    const objects = scene({ apart: 'nodes', siblings: { 'data-db-0': 'n1' }, claims: [pinned] });
    expect(expectPlacement(clusterOf(objects), pod('db-1', ['data-db-1'])).node).toBe('n1');
  });
});

test('a claim may ask for it itself', () => {
  const own = fresh('data-db-1');
  const asks = {
    ...own,
    metadata: { ...own.metadata, annotations: { [annotations.volumeAntiAffinity]: 'zones' } },
  };
  const objects = scene({ apart: undefined, siblings: { 'data-db-0': 'n1' }, claims: [asks] });
  expect(expectPlacement(clusterOf(objects), pod('db-1', ['data-db-1'])).node).toBe('n3');
});

test('generic ephemeral volumes of the pods of one ReplicaSet are kept apart', () => {
  const owner = { controller: true, kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'web-5d', uid: 'rs' };
  const podOf = (name: string): Pod => {
    const made = pod(name, [], { volumes: [ephemeralVolume('scratch')] });
    return { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } };
  };
  const scratch = (podName: string, selectedNode: Readonly<Record<string, string>> = {}) =>
    fresh(`${podName}-scratch`, {
      metadata: { ...ownedBy(podName, `${podName}-scratch`), annotations: selectedNode },
    });
  const first = scratch('web-5d-aaaaa', { [annotations.selectedNode]: 'n2' });
  const index = clusterOf({
    ...scene({ apart: 'nodes', claims: [first, scratch('web-5d-bbbbb')] }),
    Pod: [podOf('web-5d-aaaaa')],
  });
  expect(verdictOf(index, on('n2', podOf('web-5d-bbbbb')))).toContain(onNode);
  expect(verdictOf(index, on('n1', podOf('web-5d-bbbbb')))).toBe('fits');
});

describe('a pod that finds no node without a volume of its owner', () => {
  const siblings = { 'data-db-0': 'n1', 'data-db-1': 'n2', 'data-db-2': 'n3' };
  const refused = {
    cluster: scene({ apart: 'nodes', siblings, claims: [fresh('data-db-3')] }),
    pod: pod('db-3', ['data-db-3']),
  };
  expectWakeCases([
    {
      ...refused,
      name: 'is woken when a claim of the owner goes',
      event: removed('PersistentVolumeClaim', 'default/data-db-0'),
      wakes: true,
    },
    {
      ...refused,
      name: 'is woken when a volume of the owner goes',
      event: removed('PersistentVolume', 'pv-data-db-0'),
      wakes: true,
    },
    { ...refused, name: 'is woken by a new node', event: upserted('Node', zoned('n4', 'c')), wakes: true },
    {
      ...refused,
      name: 'is woken when the class allows it',
      event: upserted('StorageClass', atVersion('2', classWith('drives'))),
      wakes: true,
    },
    {
      ...refused,
      name: 'is not woken by another pod of the owner: there may be thousands',
      event: upserted('Pod', pod('db-4', ['data-db-4'])),
      wakes: false,
    },
    {
      ...refused,
      name: 'is woken by a pod with an ephemeral volume, whose claim then has another owner',
      event: upserted('Pod', pod('web', [], { volumes: [ephemeralVolume('scratch')] })),
      wakes: true,
    },
    {
      ...refused,
      name: 'is not woken by a volume of another class',
      event: upserted('PersistentVolume', localVolume('x', '1Gi', 'n1', { className: 'slow' })),
      wakes: false,
    },
  ]);
});
