import { expect, test } from 'vitest';
import type { Node, PersistentVolume, Pod } from '../../../kube/api/core.ts';
import { labels } from '../../../kube/well-known.ts';
import { decideUpgrade, type ZonalUpgrade } from './decide-upgrade.ts';

type LabelMap = Readonly<Record<string, string>>;
const { zone, region, betaZone, betaRegion } = labels;

function volume(given: LabelMap, more: PersistentVolume['spec'] = {}): PersistentVolume {
  return { metadata: { name: 'zonal-volume-1', labels: given }, spec: more };
}

function node(name: string, given: LabelMap): Node {
  return { metadata: { name, labels: given } };
}

function pod(nodeName: string): Pod {
  return { metadata: { namespace: 'default', name: 'web' }, spec: { nodeName } };
}

/** An affinity in short: terms joined by `or`, requirements by `and`. */
function summarize(upgrade: ZonalUpgrade): string {
  if (upgrade.kind !== 'upgrade') return `${upgrade.kind} ${upgrade.reason}`;
  const terms = upgrade.nodeAffinity.required?.nodeSelectorTerms ?? [];
  return terms
    .map(({ matchExpressions = [] }) =>
      matchExpressions.map(({ key, operator, values }) => `${key} ${operator} ${values}`).join(' and '),
    )
    .join(' or ');
}

test('the zonal volume of the design gets the affinity of the design', () => {
  const given = { [betaZone]: 'us-central1-a', [betaRegion]: 'us-central1' };
  expect(decideUpgrade(volume(given), { nodes: [], users: [] })).toEqual({
    kind: 'upgrade',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: betaZone, operator: 'In', values: ['us-central1-a'] },
              { key: betaRegion, operator: 'In', values: ['us-central1'] },
            ],
          },
        ],
      },
    },
  });
});

test('the multi-zonal volume of the design gets the affinity of the design', () => {
  const given = { [betaZone]: 'us-central1-a__us-central1-b', [betaRegion]: 'us-central1' };
  expect(decideUpgrade(volume(given), { nodes: [], users: [] })).toEqual({
    kind: 'upgrade',
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: betaZone, operator: 'In', values: ['us-central1-a', 'us-central1-b'] },
              { key: betaRegion, operator: 'In', values: ['us-central1'] },
            ],
          },
        ],
      },
    },
  });
});

const stableNode = node('stable', { [zone]: 'a', [region]: 'r' });
const betaNode = node('beta', { [betaZone]: 'a', [betaRegion]: 'r' });
const bothNode = node('both', { [zone]: 'a', [region]: 'r', [betaZone]: 'a', [betaRegion]: 'r' });
const bareNode = node('bare', {});

const cases: readonly {
  readonly what: string;
  readonly given: LabelMap;
  readonly nodes?: readonly Node[];
  readonly users?: readonly Pod[];
  readonly spec?: PersistentVolume['spec'];
  readonly expected: string;
}[] = [
  { what: 'no topology labels', given: { app: 'db' }, expected: 'leave NoZoneLabels' },
  {
    what: 'an existing affinity',
    given: { [zone]: 'a' },
    spec: { nodeAffinity: { required: { nodeSelectorTerms: [] } } },
    expected: 'leave HasNodeAffinity',
  },
  { what: 'only a region', given: { [betaRegion]: 'r' }, expected: `${betaRegion} In r` },
  {
    what: 'new labels',
    given: { [zone]: 'a', [region]: 'r' },
    expected: `${zone} In a and ${region} In r`,
  },
  {
    what: 'new labels, while nodes have old ones',
    given: { [zone]: 'a' },
    nodes: [betaNode],
    expected: `${zone} In a`,
  },
  { what: 'zones twice', given: { [zone]: 'b__a__b' }, expected: `${zone} In b,a` },
  { what: 'regions', given: { [betaRegion]: 'r__s' }, expected: `${betaRegion} In r,s` },
  {
    what: 'old labels, on nodes with new ones',
    given: { [betaZone]: 'a', [betaRegion]: 'r' },
    nodes: [stableNode, bareNode],
    expected: `${zone} In a and ${region} In r`,
  },
  {
    what: 'old labels, on nodes with both',
    given: { [betaZone]: 'a' },
    nodes: [bothNode],
    expected: `${betaZone} In a`,
  },
  {
    what: 'old labels, on nodes of either kind',
    given: { [betaZone]: 'a' },
    nodes: [betaNode, stableNode],
    expected: `${betaZone} In a or ${zone} In a`,
  },
  {
    what: 'both kinds of labels that agree',
    given: { [betaZone]: 'a__b', [zone]: 'b__a' },
    expected: `${zone} In b,a`,
  },
  {
    what: 'both kinds of labels that disagree',
    given: { [betaZone]: 'a', [zone]: 'b' },
    expected: 'refuse LabelsDisagree',
  },
  { what: 'an empty zone in a list', given: { [betaZone]: 'a__' }, expected: 'refuse EmptyZone' },
  { what: 'an empty label', given: { [region]: '' }, expected: 'refuse EmptyZone' },
  {
    what: 'a user on a node that keeps it',
    given: { [betaZone]: 'a' },
    nodes: [bothNode],
    users: [pod('both')],
    expected: `${betaZone} In a`,
  },
  {
    what: 'a user on a node of another zone',
    given: { [zone]: 'b' },
    nodes: [stableNode],
    users: [pod('stable')],
    expected: 'refuse NodeInUse',
  },
  {
    what: 'a user on a node without labels',
    given: { [zone]: 'a' },
    nodes: [bareNode, stableNode],
    users: [pod('bare')],
    expected: 'refuse NodeInUse',
  },
  {
    what: 'a user on a node that is gone',
    given: { [zone]: 'a' },
    users: [pod('x')],
    expected: 'refuse NodeInUse',
  },
];

test.each(cases)('a volume with $what', ({ given, nodes = [], users = [], spec = {}, expected }) => {
  expect(summarize(decideUpgrade(volume(given, spec), { nodes, users }))).toBe(expected);
});

test('a refusal names pod, node, labels and the remedy', () => {
  const upgrade = decideUpgrade(volume({ [zone]: 'b' }), { nodes: [stableNode], users: [pod('stable')] });
  expect(upgrade).toMatchObject({
    message:
      'pod default/web uses it on node stable, which has topology.kubernetes.io/zone=a, topology.kubernetes.io/region=r; a node affinity cannot be changed later, so correct the labels of the node or the volume, or delete the pod first',
  });
});
