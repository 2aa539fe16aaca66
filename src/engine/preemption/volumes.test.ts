import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { boundDiskClaim, disk, ebs } from '../testing/limit-cases.ts';
import {
  attachment,
  boundClaim,
  claim,
  csiClass,
  csiNode,
  localVolume,
  node,
  pod,
  storageClass,
  volume,
} from '../testing/objects.ts';
import { Ledger } from '../testing/whole-engine.ts';
import { describePreemption, high, low, middle, nodeWithCpu, preempt } from './testing/preemption-cluster.ts';

const rules = volumeRules;

function ranked(priority: number, object: Pod): Pod {
  return { ...object, spec: { ...object.spec, priority } };
}

function running(name: string, priority: number, ...claims: readonly string[]): Pod {
  return ranked(priority, pod(name, claims, { nodeName: 'n1' }));
}

function withDisks(disks: readonly string[], rest: ClusterObjects): ClusterIndex {
  return clusterOf({
    Node: [node('n1')],
    StorageClass: [storageClass('local'), csiClass(ebs, 'ebs')],
    PersistentVolume: disks.map((name): PersistentVolume => disk(name)),
    PersistentVolumeClaim: disks.map((name): PersistentVolumeClaim => boundDiskClaim(name)),
    ...rest,
  });
}

test('on a node without attach slots the least important pod with a disk is evicted', () => {
  const index = withDisks(['a', 'b', 'c'], {
    CSINode: [csiNode('n1', { [ebs]: 2 })],
    Pod: [running('with-a', middle, 'a'), running('with-b', low, 'b'), running('without', low)],
  });
  const asking = ranked(high, pod('p', ['c']));
  expect(describePreemption(preempt(index, asking, { rules }))).toBe('n1: with-b');
});

test('evicting one of two pods that share a disk frees no slot', () => {
  const index = withDisks(['a', 'b'], {
    CSINode: [csiNode('n1', { [ebs]: 1 })],
    Pod: [running('first', low, 'a'), running('second', high, 'a')],
  });
  const asking = ranked(high, pod('p', ['b']));
  expect(describePreemption(preempt(index, asking, { rules }))).toBe(
    'preemption: 0/1 nodes are available: 1 node(s) exceed max volume count.',
  );
});

test('evicting a pod frees no volume, so no pod is evicted for one', () => {
  const index = clusterOf({
    Node: [node('n1')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [
      localVolume('pv', '1Gi', 'n1', {
        phase: 'Bound',
        spec: { claimRef: { namespace: 'default', name: 'taken', uid: 'uid-taken' } },
      }),
    ],
    PersistentVolumeClaim: [boundClaim('taken', '1Gi', 'pv'), claim('wanted', '1Gi')],
    Pod: [running('holder', low, 'taken')],
  });
  expect(describePreemption(preempt(index, ranked(high, pod('p', ['wanted'])), { rules }))).toBe(
    'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  );
});

test('a pod whose volumes are only reserved can be a victim for its slot, and keeps the reservation until it is reverted', () => {
  const index = withDisks(['b'], {
    PersistentVolume: [
      disk('b'),
      volume('free', '1Gi', { className: 'ebs', spec: { csi: { driver: ebs, volumeHandle: 'vol-free' } } }),
    ],
    PersistentVolumeClaim: [boundDiskClaim('b'), claim('new', '1Gi', { className: 'ebs' })],
    CSINode: [csiNode('n1', { [ebs]: 1 })],
  });
  const ledger = new Ledger(index);
  const flying = ranked(low, pod('flying', ['new']));
  index.upsert('Pod', flying);
  const placement = plan(flying, index, { nowMs: 0, rules });
  expect(placement.kind === 'placement' && ledger.reserve(placement).kind).toBe('reserved');
  const before = dumpIndex(index, ledger);
  expect(describePreemption(preempt(index, ranked(high, pod('p', ['b'])), { rules }))).toBe(
    'n1: flying (assumed)',
  );
  expect(dumpIndex(index, ledger)).toEqual(before);
});

test('a lower pod with the same ReadWriteOncePod claim is evicted, if it runs where the pod can go', () => {
  const once = { accessModes: ['ReadWriteOncePod' as const] };
  const index = clusterOf({
    Node: [nodeWithCpu('n1'), nodeWithCpu('n2')],
    StorageClass: [storageClass('local')],
    PersistentVolume: [
      localVolume('pv', '1Gi', 'n1', {
        phase: 'Bound',
        spec: { ...once, claimRef: { namespace: 'default', name: 'once', uid: 'uid-once' } },
      }),
    ],
    PersistentVolumeClaim: [boundClaim('once', '1Gi', 'pv', { spec: once })],
    Pod: [running('holder', low, 'once')],
  });
  const answer = preempt(index, ranked(high, pod('p', ['once'])), { rules: defaultRules });
  expect(describePreemption(answer)).toBe('n1: holder');
});

const disks = ['a', 'b', 'c', 'd', 'e'];
const nodes = ['n1', 'n2'];

/** Some pods on nodes with few slots, and one more pod that needs disks. Disks may be shared, or attached without a pod that uses them. */
const arbSlots = fc.record({
  limits: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
  pods: fc.array(
    fc.record({
      at: fc.constantFrom(...nodes),
      priority: fc.nat(2),
      claims: fc.subarray(disks, { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 3, maxLength: 8 },
  ),
  attached: fc.array(fc.tuple(fc.constantFrom(...nodes), fc.constantFrom(...disks)), { maxLength: 2 }),
  asking: fc.record({
    priority: fc.integer({ min: 1, max: 3 }),
    claims: fc.subarray(disks, { minLength: 1, maxLength: 3 }),
  }),
});

test('whatever disks are attached, the victims are enough, all of them are needed, and the search changes nothing', () => {
  fc.assert(
    fc.property(arbSlots, fc.nat(3), ({ limits, pods, attached, asking: { priority, claims } }, seed) => {
      const build = () =>
        withDisks(disks, {
          Node: nodes.map((name) => node(name)),
          CSINode: nodes.map((name, at) => csiNode(name, { [ebs]: limits[at] })),
          VolumeAttachment: attached.map(([at, name], number) =>
            attachment(`va${number}`, at, ebs, `pv-${name}`),
          ),
          Pod: pods.map((entry, number) =>
            ranked(entry.priority, pod(`p${number}`, entry.claims, { nodeName: entry.at })),
          ),
        });
      const index = build();
      const asking = ranked(priority, pod('asking', claims));
      fc.pre(plan(asking, index, { nowMs: 0, rules }).kind === 'refusal');
      const before = dumpIndex(index);
      const answer = preempt(index, asking, { rules, seed });
      expect(dumpIndex(index)).toEqual(before);
      fc.pre(answer.kind === 'victims');
      const keys = answer.victims.map((victim) => victim.pod.key);
      const fitsWithout = (gone: readonly string[]) => {
        const emptied = build();
        for (const key of gone) emptied.remove('Pod', key);
        return plan(asking, emptied, { nowMs: 0, rules, onlyNodes: [answer.node] }).kind === 'placement';
      };
      expect(fitsWithout(keys)).toBe(true);
      for (const kept of keys) expect(fitsWithout(keys.filter((key) => key !== kept))).toBe(false);
    }),
    { numRuns: 100 },
  );
});
