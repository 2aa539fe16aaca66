import { expect, test } from 'vitest';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { labels } from '../../../kube/well-known.ts';
import { nodeOf, termsOf } from '../testing/objects.ts';
import {
  chooseTopology,
  readTopologyRecord,
  recordedDrive,
  type TopologyQuestion,
  topologyRecord,
  topologyRequirement,
} from './topology-requirement.ts';

const driver = 'd.example.com';
const nodes = new Map(
  ['n1 a r1', 'n2 b r1', 'n3 c r1', 'n4 b r1'].map((line) => [line.slice(0, 2), nodeOf(line)]),
);
const csiNodes = [...nodes.keys()].map((name) => ({
  metadata: { name },
  spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [labels.zone] }] },
}));

function ask(question: Partial<TopologyQuestion>, selected?: string) {
  return chooseTopology({
    driver,
    storageClass: {},
    selectedNode: selected === undefined ? undefined : nodes.get(selected),
    spread: { hash: 0, ordinal: 1 },
    strict: false,
    immediate: true,
    csiNodeNamed: (name) => csiNodes.find(({ metadata }) => metadata.name === name),
    csiNodes: () => csiNodes,
    nodeNamed: (name) => nodes.get(name),
    ...question,
  });
}

/** The zones of requisite and preferred, such as `a b c, b c a`; or the refusal. */
function zones(choice: ReturnType<typeof chooseTopology>): string {
  if (choice.kind === 'refused') return `${choice.next}: ${choice.message}`;
  const required = topologyRequirement(choice.preferred);
  const text = (list: readonly { readonly segments: Record<string, string> }[] = []) =>
    list.map(({ segments }) => segments[labels.zone]).join(' ');
  return required === undefined ? 'none' : `${text(required.requisite)}, ${text(required.preferred)}`;
}

const allowed: StorageClass = { allowedTopologies: termsOf('zone=b,c') };

test.each<[string, Partial<TopologyQuestion>, string | undefined, string]>([
  ['late, strict', { strict: true }, 'n2', 'b, b'],
  ['late, strict, allowed', { strict: true, storageClass: allowed }, 'n2', 'b, b'],
  ['late', {}, 'n2', 'a b c, b c a'],
  ['late, allowed', { storageClass: allowed }, 'n3', 'b c, c b'],
  ['late, fitting', { fitting: [{ [labels.zone]: 'b' }, { [labels.zone]: 'c' }] }, 'n2', 'b c, b c'],
  ['late, allowed, fitting', { storageClass: allowed, fitting: [{ [labels.zone]: 'c' }] }, 'n3', 'c, c'],
  ['late, fitting elsewhere', { fitting: [{ [labels.zone]: 'x' }] }, 'n2', 'b, b'],
  ['immediate, allowed', { storageClass: allowed }, undefined, 'b c, c b'],
  ['immediate', {}, undefined, 'a b c, b c a'],
  ['immediate, off', { immediate: false }, undefined, 'none'],
  ['immediate, off, allowed', { immediate: false, storageClass: allowed }, undefined, 'b c, c b'],
])('%s', (_, question, selected, expected) => {
  expect(zones(ask(question, selected))).toBe(expected);
});

test.each<[string, Partial<TopologyQuestion>, string | undefined, RegExp]>([
  ['not allowed', { storageClass: allowed }, 'n1', /^move: node "n1" \(.*=a\) is not among/],
  ['not allowed, strict', { storageClass: allowed, strict: true }, 'n1', /^move: node "n1"/],
  ['no CSINode', { csiNodeNamed: () => undefined }, 'n1', /^move: error getting CSINode/],
  ['driver not registered', { driver: 'other' }, 'n1', /^retry: no topology key of other found/],
  ['no node registered', { driver: 'other' }, undefined, /^retry: no node has registered/],
])('%s is refused', (_, question, selected, expected) => {
  expect(zones(ask(question, selected))).toMatch(expected);
});

test('a node without a label of the driver is refused, and is no segment', () => {
  const bare = { metadata: { name: 'n1', labels: {} } };
  expect(zones(ask({ selectedNode: bare }))).toMatch(/^retry: node "n1" does not have all labels/);
  const known = (name: string) => (name === 'n1' ? bare : nodes.get(name));
  expect(zones(ask({ nodeNamed: known }, 'n2'))).toBe('b c, b c');
});

test('several keys in allowed topologies are combined', () => {
  const storageClass = { allowedTopologies: termsOf('zone=a,b rack=r1,r2') };
  const choice = ask({ storageClass });
  expect(choice.kind === 'chosen' && choice.preferred).toHaveLength(4);
});

test('more segments than can be recorded are left out, the preferred ones first', () => {
  const many = Array.from({ length: 300 }, (_, index) => `zone-${String(index).padStart(3, '0')}`);
  const storageClass = { allowedTopologies: termsOf(`zone=${many.join()}`) };
  const choice = ask({ storageClass });
  expect(choice.kind === 'chosen' && choice.preferred?.length).toBe(128);
  expect(choice.kind === 'chosen' && choice.preferred?.[0]).toEqual({ [labels.zone]: 'zone-001' });
});

test('the record of a choice gives the same choice', () => {
  const choice = ask({}, 'n2');
  const preferred = choice.kind === 'chosen' ? choice.preferred : undefined;
  expect(readTopologyRecord(topologyRecord(preferred), {})).toEqual({ preferred });
  expect(readTopologyRecord(topologyRecord(undefined), {})).toEqual({ preferred: undefined });
  expect(readTopologyRecord(topologyRecord(preferred, 'n1-b7f6'), {})).toEqual({ preferred });
  expect(recordedDrive(topologyRecord(preferred, 'n1-b7f6'))).toBe('n1-b7f6');
  expect(recordedDrive(topologyRecord(preferred))).toBeUndefined();
});

test.each([
  '',
  '{',
  '[]',
  '{"a":1}',
  '[1]',
  '[{"a":1}]',
  '"x"',
  JSON.stringify([{ [labels.zone]: 'a' }]),
  'null',
])('a record that a user changed to %s is not used', (text) => {
  expect(readTopologyRecord(text, allowed)).toBeUndefined();
});
