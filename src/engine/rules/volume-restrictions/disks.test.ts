import { describe, expect, test } from 'vitest';
import type { Pod, Volume } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import { atVersion, byName, node, pod } from '../../testing/objects.ts';
import { expectRuleRefusal, expectRuleWakeCases, ruleVerdict } from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { volumeRestrictionsRule } from './rule.ts';

const rule = eraseState(volumeRestrictionsRule);
const refused = '0/1 nodes are available: 1 node(s) had no available disk.';

function using(name: string, volume: Volume, nodeName = ''): Pod {
  return pod(name, [], { volumes: [{ name: 'disk', ...volume }], nodeName });
}

function gce(pdName: string, readOnly = false): Volume {
  return { gcePersistentDisk: { pdName, readOnly } };
}
function ebs(volumeID: string, readOnly = false): Volume {
  return { awsElasticBlockStore: { volumeID, readOnly } };
}
function iscsi(iqn: string, targetPortal: string, readOnly = false): Volume {
  return { iscsi: { iqn, targetPortal, readOnly } };
}
function rbd(monitors: readonly string[], image: string, readOnly = false, pool = 'p'): Volume {
  return { rbd: { monitors, pool, image, readOnly } };
}

interface Case {
  readonly name: string;
  readonly there: Volume;
  readonly wants: Volume;
  readonly fits: boolean;
}

describe('of two pods on a node', () => {
  const cases: readonly Case[] = [
    { name: 'both may use different disks', there: gce('a'), wants: gce('b'), fits: true },
    { name: 'only one may use a GCE disk', there: gce('a'), wants: gce('a'), fits: false },
    { name: 'one that writes excludes one that reads', there: gce('a'), wants: gce('a', true), fits: false },
    { name: 'one that reads excludes one that writes', there: gce('a', true), wants: gce('a'), fits: false },
    { name: 'both may read a GCE disk', there: gce('a', true), wants: gce('a', true), fits: true },
    { name: 'only one may use an EBS volume', there: ebs('a'), wants: ebs('a'), fits: false },
    { name: 'only one may read an EBS volume', there: ebs('a', true), wants: ebs('a', true), fits: false },
    { name: 'an EBS volume and a GCE disk do not conflict', there: gce('a'), wants: ebs('a'), fits: true },
    {
      name: 'a target is identified by its name',
      there: iscsi('q', 'x'),
      wants: iscsi('q', 'y'),
      fits: false,
    },
    {
      name: 'both may read a target',
      there: iscsi('q', 'x', true),
      wants: iscsi('q', 'x', true),
      fits: true,
    },
    { name: 'targets differ by name', there: iscsi('q', 'x'), wants: iscsi('r', 'x'), fits: true },
    {
      name: 'images with a common monitor are the same',
      there: rbd(['a', 'b'], 'i'),
      wants: rbd(['b', 'c'], 'i'),
      fits: false,
    },
    {
      name: 'images without a common monitor differ',
      there: rbd(['a'], 'i'),
      wants: rbd(['b'], 'i'),
      fits: true,
    },
    {
      name: 'images of a cluster differ by name',
      there: rbd(['a'], 'i'),
      wants: rbd(['a'], 'j'),
      fits: true,
    },
    {
      name: 'images of a cluster differ by pool',
      there: rbd(['a'], 'i'),
      wants: rbd(['a'], 'i', false, 'q'),
      fits: true,
    },
    {
      name: 'both may read an image',
      there: rbd(['a'], 'i', true),
      wants: rbd(['a'], 'i', true),
      fits: true,
    },
    {
      name: 'malformed volumes do not conflict',
      there: { rbd: { monitors: [5] }, iscsi: 'x' } as unknown as Volume,
      wants: { rbd: { monitors: 'a' }, gcePersistentDisk: 7 } as unknown as Volume,
      fits: true,
    },
  ];
  test.each(byName(cases))('%s', (_, { there, wants, fits }) => {
    const index = clusterOf({ Node: [node('n1')], Pod: [using('other', there, 'n1')] });
    expect(ruleVerdict(rule, index, using('p', wants))).toBe(fits ? 'fits' : refused);
  });

  test('a finished pod does not conflict', () => {
    const over: Pod = { ...using('other', ebs('a'), 'n1'), status: { phase: 'Succeeded' } };
    expect(ruleVerdict(rule, clusterOf({ Node: [node('n1')], Pod: [over] }), using('p', ebs('a')))).toBe(
      'fits',
    );
  });

  test('evicting one would help the other, and on another node both fit', () => {
    const Node = [node('n1')];
    const index = clusterOf({ Node, Pod: [using('other', ebs('a'), 'n1')] });
    const refusal = expectRuleRefusal(rule, index, using('p', ebs('a')));
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual(['n1']);
    expect(refusal.explain().nodes[0]!.findings).toMatchObject([{ reason: 'DiskInUse' }]);
    index.upsert('Node', node('n2'));
    expect(ruleVerdict(rule, index, using('p', ebs('a')))).toBe('fits');
  });
});

describe('a pod that was refused because of its disk', () => {
  const other = using('other', ebs('a'), 'n1');
  const waiting = {
    cluster: { Node: [node('n1')], Pod: [other, using('unrelated', ebs('b'), 'n1')] },
    pod: using('p', ebs('a')),
  };
  expectRuleWakeCases(rule, [
    {
      ...waiting,
      name: 'is woken when the other is deleted',
      event: removed('Pod', 'default/other'),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is woken when the other finishes',
      event: upserted('Pod', atVersion('2', { ...other, status: { phase: 'Failed' } })),
      wakes: true,
    },
    {
      ...waiting,
      name: 'is not woken when the other keeps running',
      event: upserted('Pod', atVersion('2', { ...other, status: { phase: 'Running' } })),
      wakes: false,
    },
    {
      ...waiting,
      name: 'is not woken when an unrelated pod is deleted',
      event: removed('Pod', 'default/unrelated'),
      wakes: false,
    },
    { ...waiting, name: 'is woken by a new node', event: upserted('Node', node('n2')), wakes: true },
    {
      ...waiting,
      name: 'is not woken when its node changes',
      event: upserted('Node', atVersion('2', node('n1', { a: 'b' }))),
      wakes: false,
    },
  ]);
});
