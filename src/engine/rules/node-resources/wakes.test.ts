import { expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { ResourceList } from '../../../kube/api/meta.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { askingPod, residentPod } from '../../testing/node-usage.ts';
import { comes, goes, type Happening } from '../../testing/index-events.ts';
import { byName } from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { nodeResourcesFit } from './rule.ts';

const rules = [eraseState(nodeResourcesFit)];
const asking = askingPod('asking', { cpu: '2' });

function node(name: string, allocatable: ResourceList, labels = {}) {
  return { metadata: { name, labels }, status: { allocatable } };
}

const full = { cpu: '2', pods: '2', memory: '4Gi' };
const before = [residentPod('p1', 'n', { cpu: '1' }), residentPod('p2', 'n', { cpu: '1' })];

/** Node `n` has two cpus, taken by p1 and p2; `waits` asks for cpu, one for p1's or all. */
interface ResourceWake {
  readonly name: string;
  readonly waits?: Pod;
  readonly happens: Happening;
  readonly wakes: boolean;
}

const one = askingPod('asking', { cpu: '1' });
const nothing = askingPod('asking', {});

const cases: readonly ResourceWake[] = [
  { name: 'a node that is large enough comes', happens: comes('Node', node('m', full)), wakes: true },
  {
    name: 'a node that is too small comes',
    happens: comes('Node', node('m', { ...full, cpu: '1' })),
    wakes: false,
  },
  {
    name: 'a node grows enough',
    happens: comes('Node', node('n', { ...full, cpu: '4', pods: '9' })),
    wakes: true,
  },
  { name: 'a node grows too little', happens: comes('Node', node('n', { ...full, cpu: '3' })), wakes: false },
  { name: 'a node only gets a label', happens: comes('Node', node('n', full, { a: 'b' })), wakes: false },
  { name: 'a node goes', happens: goes('Node', 'n'), wakes: false },
  {
    name: 'a node takes more pods',
    waits: nothing,
    happens: comes('Node', node('n', { ...full, pods: '3' })),
    wakes: true,
  },
  { name: 'a pod goes and leaves enough', waits: one, happens: goes('Pod', 'default/p1'), wakes: true },
  { name: 'a pod goes and leaves too little', happens: goes('Pod', 'default/p1'), wakes: false },
  {
    name: 'a pod finishes',
    waits: one,
    happens: comes('Pod', residentPod('p1', 'n', { cpu: '1' }, { status: { phase: 'Failed' } })),
    wakes: true,
  },
  {
    name: 'a pod asks for less, but the node is full of pods',
    waits: one,
    happens: comes('Pod', residentPod('p1', 'n')),
    wakes: false,
  },
  {
    name: 'a pod changes in nothing that counts',
    waits: one,
    happens: comes('Pod', { ...before[0]! }),
    wakes: false,
  },
  { name: 'another pod comes', waits: one, happens: comes('Pod', residentPod('p3', 'n')), wakes: false },
  { name: 'a pod without a node comes', happens: comes('Pod', askingPod('p3', {})), wakes: false },
  {
    name: 'a class comes',
    happens: comes('StorageClass', { metadata: { name: 'c' }, provisioner: 'd' }),
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

test('a pod that is resized down wakes whoever fits then', () => {
  const index = clusterOf({
    Node: [node('n', { ...full, pods: '9' })],
    Pod: [residentPod('p1', 'n', { cpu: '2' })],
  });
  const refusal = plan(one, index, { nowMs: 0, rules });
  if (refusal.kind === 'placement') throw new Error('it fits from the start');
  const resized = residentPod('p1', 'n', { cpu: '1' });
  const main = { name: 'main', resources: { requests: { cpu: '2' } } };
  const underWay: Pod = { ...resized, status: { containerStatuses: [main] } };
  expect(refusal.wokenBy(index.upsert('Pod', underWay).change!)).toBe(false);
  expect(refusal.wokenBy(index.upsert('Pod', resized).change!)).toBe(true);
});
