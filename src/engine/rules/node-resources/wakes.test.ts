import { expect, test } from 'vitest';
import type { Pod, ResourceList } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { type IndexEvent, removed, upserted } from '../../testing/index-events.ts';
import { assignedPod, podRequesting } from '../../testing/node-usage.ts';
import { byName } from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeResourcesRule } from './rule.ts';

const rules = [eraseState(nodeResourcesRule)];
const asking = podRequesting('asking', { cpu: '2' });

function node(name: string, allocatable: ResourceList, labels = {}) {
  return { metadata: { name, labels }, status: { allocatable } };
}

const full = { cpu: '2', pods: '2', memory: '4Gi' };
const before = [assignedPod('p1', 'n', { cpu: '1' }), assignedPod('p2', 'n', { cpu: '1' })];

/** Node `n` has two cpus, used by p1 and p2; the pod `waits` requests one cpu or both. */
interface ResourceWake {
  readonly name: string;
  readonly waits?: Pod;
  readonly happens: IndexEvent;
  readonly wakes: boolean;
}

const one = podRequesting('asking', { cpu: '1' });
const nothing = podRequesting('asking', {});

const cases: readonly ResourceWake[] = [
  { name: 'a node that is large enough comes', happens: upserted('Node', node('m', full)), wakes: true },
  {
    name: 'a node that is too small comes',
    happens: upserted('Node', node('m', { ...full, cpu: '1' })),
    wakes: false,
  },
  {
    name: 'a node grows enough',
    happens: upserted('Node', node('n', { ...full, cpu: '4', pods: '9' })),
    wakes: true,
  },
  {
    name: 'a node grows too little',
    happens: upserted('Node', node('n', { ...full, cpu: '3' })),
    wakes: false,
  },
  { name: 'a node only gets a label', happens: upserted('Node', node('n', full, { a: 'b' })), wakes: false },
  { name: 'a node goes', happens: removed('Node', 'n'), wakes: false },
  {
    name: 'a node may run more pods',
    waits: nothing,
    happens: upserted('Node', node('n', { ...full, pods: '3' })),
    wakes: true,
  },
  { name: 'a pod goes and leaves enough', waits: one, happens: removed('Pod', 'default/p1'), wakes: true },
  { name: 'a pod goes and leaves too little', happens: removed('Pod', 'default/p1'), wakes: false },
  {
    name: 'a pod finishes',
    waits: one,
    happens: upserted('Pod', assignedPod('p1', 'n', { cpu: '1' }, { status: { phase: 'Failed' } })),
    wakes: true,
  },
  {
    name: 'a pod requests less, but the node runs its maximum number of pods',
    waits: one,
    happens: upserted('Pod', assignedPod('p1', 'n')),
    wakes: false,
  },
  {
    name: 'a pod changes without effect on its resources',
    waits: one,
    happens: upserted('Pod', { ...before[0]! }),
    wakes: false,
  },
  { name: 'another pod comes', waits: one, happens: upserted('Pod', assignedPod('p3', 'n')), wakes: false },
  { name: 'a pod without a node comes', happens: upserted('Pod', podRequesting('p3', {})), wakes: false },
  {
    name: 'a class comes',
    happens: upserted('StorageClass', { metadata: { name: 'c' }, provisioner: 'd' }),
    wakes: false,
  },
  {
    name: 'a DeviceClass begins to serve a requested resource',
    waits: podRequesting('asking', { 'example.com/gpu': '1' }),
    happens: upserted('DeviceClass', {
      metadata: { name: 'c' },
      spec: { extendedResourceName: 'example.com/gpu' },
    }),
    wakes: true,
  },
  {
    name: 'a DeviceClass serves another resource',
    waits: podRequesting('asking', { 'example.com/gpu': '1' }),
    happens: upserted('DeviceClass', {
      metadata: { name: 'c' },
      spec: { extendedResourceName: 'example.com/nic' },
    }),
    wakes: false,
  },
];

test.each(byName(cases))('%s', (_, { waits = asking, happens, wakes }) => {
  const index = clusterOf({ Node: [node('n', full)], Pod: before });
  const refusal = plan(waits, index, { nowMs: 0, rules });
  if (refusal.kind === 'placement') throw new Error('it fits from the start');
  const change = happens(index);
  expect(change !== undefined && refusal.wokenBy(change)).toBe(wakes);
  if (!wakes) expect(plan(waits, index, { nowMs: 0, rules }).kind).toBe('refusal');
});

test('a pod that is resized down wakes a pod that then fits', () => {
  const index = clusterOf({
    Node: [node('n', { ...full, pods: '9' })],
    Pod: [assignedPod('p1', 'n', { cpu: '2' })],
  });
  const refusal = plan(one, index, { nowMs: 0, rules });
  if (refusal.kind === 'placement') throw new Error('it fits from the start');
  const resized = assignedPod('p1', 'n', { cpu: '1' });
  const main = { name: 'main', resources: { requests: { cpu: '2' } } };
  const underWay: Pod = { ...resized, status: { containerStatuses: [main] } };
  expect(refusal.wokenBy(index.upsert('Pod', underWay).change!)).toBe(false);
  expect(refusal.wokenBy(index.upsert('Pod', resized).change!)).toBe(true);
});
