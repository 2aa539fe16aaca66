import { describe, expect, test } from 'vitest';
import type { StorageClass } from '../../kube/api/storage.ts';
import { classOf, termsOf } from '../provisioner/testing/objects.ts';
import { LifecycleFixture } from './testing/lifecycle-fixture.ts';

const twoZones = { replication: 'two-zones' };
const nodes = ['a1 a r1 rack1', 'a2 a r1 rack2', 'b1 b r1 rack1', 'b2 b r1 rack2', 'c1 c r1 rack9'];
const racks = termsOf('zone=a rack=rack1', 'zone=b rack=rack1,rack2');

interface Case {
  readonly what: string;
  readonly given?: StorageClass;
  readonly nodes?: readonly string[];
  readonly selected: string;
  /** A text for each term of the volume's affinity, or the Event on the claim. */
  readonly expected: readonly string[] | RegExp;
}

const made: readonly Case[] = [
  { what: 'a zonal class', selected: 'c1', expected: ['zone=c'] },
  {
    what: 'a class restricted to zones',
    given: { allowedTopologies: termsOf('zone=a,b') },
    selected: 'b1',
    expected: ['zone=b'],
  },
  {
    what: 'a multi-zonal class',
    given: { parameters: twoZones, allowedTopologies: termsOf('zone=a,b') },
    selected: 'b2',
    expected: ['zone=a,b'],
  },
  {
    what: 'a multi-zonal class as the proposal spells it',
    given: { parameters: { 'replication-type': 'regional-pd', type: 'pd-standard' } },
    nodes: ['a1 a r1', 'b1 b r1', 'x1 x r2'],
    selected: 'a1',
    expected: ['zone=a,b'],
  },
  {
    what: 'a multi-label class, the first term',
    given: { allowedTopologies: racks },
    selected: 'a1',
    expected: ['zone=a rack=rack1'],
  },
  {
    what: 'a multi-label class, the second term',
    given: { allowedTopologies: racks },
    selected: 'b2',
    expected: ['zone=b rack=rack2'],
  },
];

const refused: readonly Case[] = [
  {
    what: 'two zones, of which only one is allowed',
    given: { parameters: twoZones, allowedTopologies: termsOf('zone=a') },
    selected: 'a1',
    expected: /a volume in two zones needs two allowed zones of one region, but there are r1: a;/,
  },
  {
    what: 'two zones, and the other one is in another region',
    given: { parameters: twoZones },
    nodes: ['a1 a r1', 'b1 b r2'],
    selected: 'a1',
    expected: /needs two allowed zones of one region, but there are r1: a; r2: b;/,
  },
  {
    what: 'a node in a zone that is not allowed',
    given: { allowedTopologies: termsOf('zone=a,b') },
    selected: 'c1',
    expected: /node "c1" in zone "c" is not among the topologies that the class allows/,
  },
  {
    what: 'a node in a rack that is not allowed there',
    given: { allowedTopologies: racks },
    selected: 'a2',
    expected: /node "a2" in zone "a" is not among the topologies that the class allows/,
  },
  {
    what: 'a node without a zone',
    nodes: ['n1'],
    selected: 'n1',
    expected: /node "n1" has no label topology.kubernetes.io\/zone/,
  },
  {
    what: 'a node that does not exist',
    selected: 'ghost',
    expected: /failed to get target node: nodes "ghost" not found/,
  },
];

async function livedUntilSelected({
  given = {},
  nodes: own = nodes,
  selected,
}: Case): Promise<LifecycleFixture> {
  const fixture = await LifecycleFixture.start({ nodes: own, classes: [classOf(given)] });
  await fixture.makeClaim();
  await fixture.makePod('web', ['data']);
  await fixture.settle();
  await fixture.selectNode('data', selected);
  await fixture.settle();
  return fixture;
}

describe('a pod runs on a volume of', () => {
  test.each(made)('$what', async (given) => {
    await using fixture = await livedUntilSelected(given);
    expect(await fixture.placesOf()).toEqual(given.expected);
    await fixture.bindPod('web', given.selected);
    await fixture.settle();
    expect(await fixture.lines()).toEqual([
      'claim data Bound',
      `pod web Running on ${given.selected}`,
      'volume for data Bound',
    ]);
    expect(await fixture.selectedNode()).toBe(given.selected);
    fixture.expectNoErrors();
  });
});

describe('the selected node is removed again, an Event on the claim gives the reason, and nothing is left behind, with', () => {
  test.each(refused)('$what', async (given) => {
    await using fixture = await livedUntilSelected(given);
    expect(await fixture.selectedNode()).toBeUndefined();
    expect(await fixture.lines()).toEqual(['claim data Pending', 'pod web Pending']);
    expect(await fixture.eventsOf('data')).toContainEqual(expect.stringMatching(given.expected as RegExp));
    expect((await fixture.claim()).metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  });
});

test('after a refusal the scheduler chooses again, and that node works', async () => {
  await using fixture = await livedUntilSelected({
    what: '',
    given: { allowedTopologies: termsOf('zone=a,b') },
    selected: 'c1',
    expected: [],
  });
  await fixture.selectNode('data', 'a2');
  await fixture.settle();
  expect(await fixture.placesOf()).toEqual(['zone=a']);
  await fixture.bindPod('web', 'a2');
  await fixture.settle();
  expect(await fixture.lines()).toContain('pod web Running on a2');
});
