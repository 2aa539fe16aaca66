import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, byName, node } from '../../testing/objects.ts';
import {
  expectRuleRefusal,
  expectRuleWakeCases,
  podWithSpec,
  ruleVerdict,
} from '../../testing/rule-checks/rule-cases.ts';
import { eraseState } from '../framework/rule.ts';
import { supportedFeaturesRule } from './rule.ts';

const rule = eraseState(supportedFeaturesRule);

function uses(feature: string): string {
  return `0/1 nodes are available: pod uses ${feature}, which the stowage scheduler does not support.`;
}

function has(value: string): string {
  return `0/1 nodes are available: pod has ${value}, which the stowage scheduler does not know.`;
}

const devices = { claims: [{ name: 'gpu' }] };
const dra = '(dynamic resource allocation)';

interface Case {
  readonly name: string;
  readonly spec: unknown;
  readonly says: string;
}

describe('a pod', () => {
  const cases: readonly Case[] = [
    {
      name: 'without special fields fits',
      spec: { containers: [{ name: 'c', resources: {} }] },
      says: 'fits',
    },
    {
      name: 'with resource claims is refused',
      spec: { resourceClaims: [{ name: 'gpu' }], containers: [{ resources: devices }] },
      says: uses(`spec.resourceClaims ${dra}`),
    },
    { name: 'with no resource claim in the list fits', spec: { resourceClaims: [] }, says: 'fits' },
    {
      name: 'whose container uses a claim is refused',
      spec: { containers: [{}, { resources: devices }] },
      says: uses(`spec.containers[1].resources.claims ${dra}`),
    },
    {
      name: 'whose init container uses a claim is refused',
      spec: { initContainers: [{ resources: devices }] },
      says: uses(`spec.initContainers[0].resources.claims ${dra}`),
    },
    {
      name: 'that requests the devices of a DeviceClass as a resource is refused',
      spec: {
        containers: [
          { resources: { requests: { 'deviceclass.resource.kubernetes.io/gpu': '1', cpu: '1' } } },
        ],
      },
      says: uses(`the resource deviceclass.resource.kubernetes.io/gpu ${dra}`),
    },
    {
      name: 'of a group is refused',
      spec: { schedulingGroup: { podGroupName: 'g' } },
      says: uses('spec.schedulingGroup (pod groups)'),
    },
    {
      name: 'with known constraints fits',
      spec: {
        topologySpreadConstraints: [
          { whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor' },
          { whenUnsatisfiable: 'ScheduleAnyway', nodeAffinityPolicy: 'Ignore' },
        ],
      },
      says: 'fits',
    },
    {
      name: 'with a constraint of an unknown kind is refused',
      spec: {
        topologySpreadConstraints: [
          { whenUnsatisfiable: 'DoNotSchedule' },
          { whenUnsatisfiable: 'Sometimes' },
        ],
      },
      says: has('"Sometimes" in spec.topologySpreadConstraints[1].whenUnsatisfiable'),
    },
    {
      name: 'with a constraint without a kind is refused',
      spec: { topologySpreadConstraints: [7] },
      says: has('no value in spec.topologySpreadConstraints[0].whenUnsatisfiable'),
    },
    {
      name: 'with an unknown policy is refused',
      spec: { topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: '' }] },
      says: has('"" in spec.topologySpreadConstraints[0].nodeTaintsPolicy'),
    },
    {
      name: 'with an unknown toleration is left to the rule about taints',
      spec: { tolerations: [{ operator: 'Like' }] },
      says: 'fits',
    },
    {
      name: 'with malformed fields is not refused',
      spec: { containers: [5, null, { resources: 'x' }] },
      says: 'fits',
    },
  ];
  test.each(byName(cases))('%s', (_, { spec, says }) => {
    expect(ruleVerdict(rule, clusterOf({ Node: [node('n1')] }), podWithSpec(spec as Pod['spec']))).toBe(says);
  });

  test('gets all unsupported features', () => {
    const spec = {
      resourceClaims: [{ name: 'a' }],
      schedulingGroup: {},
      containers: [{ resources: devices }],
    };
    const refusal = expectRuleRefusal(
      rule,
      clusterOf({ Node: [node('n1')] }),
      podWithSpec(spec as Pod['spec']),
    );
    expect(refusal.podRefusals.map(({ reason }) => reason)).toEqual(Array(3).fill('UnsupportedFeature'));
    expect([...refusal.nodesWherePreemptionMayHelp()]).toEqual([]);
  });
});

describe('a pod that was refused', () => {
  const waiting = {
    cluster: { Node: [node('n1')] },
    pod: podWithSpec({ resourceClaims: [{ name: 'gpu' }] }),
  };
  expectRuleWakeCases(rule, [
    { ...waiting, name: 'is not woken by a node', event: upserted('Node', node('n2')), wakes: false },
    {
      ...waiting,
      name: 'is woken when it no longer uses the feature',
      event: upserted('Pod', atVersion('2', podWithSpec({}))),
      wakes: true,
    },
  ]);
});
