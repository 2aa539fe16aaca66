import { describe, expect, test } from 'vitest';
import type { ContainerImage, Node, Pod } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { byName, node } from '../../testing/objects.ts';
import { expectSameAsOracle } from '../../testing/rule-checks/expect-same-as-oracle.ts';
import { nodeWithFields, podWithSpec } from '../../testing/rule-checks/rule-cases.ts';
import { evaluateRule } from '../../testing/rule-checks/rule-result.ts';
import { eraseState } from '../framework/rule.ts';
import { imageLocalityRule } from './rule.ts';

const rule = eraseState(imageLocalityRule);
const mebibyte = 2 ** 20;

function having(name: string, ...images: (readonly [string, number])[]): Node {
  return nodeWithFields(name, {
    status: { images: images.map(([image, size]) => ({ names: [image], sizeBytes: size * mebibyte })) },
  });
}

function running(...images: string[]): Pod['spec'] {
  return { containers: images.map((image) => ({ image })) };
}

interface Case {
  readonly name: string;
  readonly nodes: readonly Node[];
  readonly spec: Pod['spec'];
  readonly scores: Record<string, number>;
}

describe('a node is better', () => {
  const n1 = having('n1', ['gcr.io/40:latest', 40], ['gcr.io/300:latest', 300]);
  const n2 = having('n2', ['gcr.io/250:latest', 250], ['gcr.io/4000:latest', 4000], ['gcr.io/10:latest', 10]);
  const cases: readonly Case[] = [
    {
      // Each is on one node of two: (250 / 2 + 0 - 23) of (2000 - 23), against (40 / 2), which is below 23.
      name: 'the more of the images it has, by size and by the number of nodes that have them',
      nodes: [n1, n2],
      spec: running('gcr.io/40', 'gcr.io/250'),
      scores: { n1: 0, n2: 5 },
    },
    {
      name: 'for a very large image, up to the maximum',
      nodes: [n1, n2],
      spec: running('gcr.io/10', 'gcr.io/4000'),
      scores: { n1: 0, n2: 100 },
    },
    {
      name: 'for init containers too',
      nodes: [n1, n2],
      spec: { ...running('gcr.io/10'), initContainers: [{ image: 'gcr.io/300' }] },
      scores: { n1: 6, n2: 0 },
    },
    {
      name: 'for image volumes too, which do not count as containers',
      nodes: [n1, n2],
      spec: { ...running('x'), volumes: [{ name: 'v', image: { reference: 'gcr.io/300:latest' } }] },
      scores: { n1: 12, n2: 0 },
    },
    {
      name: 'for an image without a tag, which means latest',
      nodes: [having('n1', ['reg:5000/x:latest', 1000]), having('n2', ['reg:5000/x', 1000])],
      spec: running('reg:5000/x'),
      scores: { n1: 48, n2: 0 },
    },
    { name: 'in no way if no node has the image', nodes: [n1, n2], spec: running('y'), scores: {} },
    {
      name: 'in no way for malformed images',
      nodes: [
        nodeWithFields('n1', {
          status: { images: [5, { names: 'x' }, { names: [7] }] as unknown as ContainerImage[] },
        }),
      ],
      spec: running('x'),
      scores: {},
    },
  ];
  test.each(byName(cases))('%s', (_, { nodes, spec, scores }) => {
    expect(evaluateRule(rule, clusterOf({ Node: nodes }), podWithSpec(spec)).scores).toEqual(scores);
  });

  test('by the largest reported size, whichever node reported first', () => {
    const nodes = [having('n1', ['x:1', 100]), having('n2', ['x:1', 900]), node('n3')];
    for (const order of [nodes, nodes.toReversed()]) {
      expect(evaluateRule(rule, clusterOf({ Node: order }), podWithSpec(running('x:1'))).scores).toEqual({
        n1: 59,
        n2: 59,
        n3: 0,
      });
    }
  });
});

test('it agrees with a simple reference implementation', () => {
  expectSameAsOracle(
    rule,
    (model, asking) => {
      const { containers = [], initContainers = [], volumes = [] } = asking.spec ?? {};
      const names = [
        ...[...initContainers, ...containers].map(({ image }) => image!),
        ...volumes.flatMap(({ image }) =>
          image === undefined ? [] : (image as { reference: string }).reference,
        ),
      ].map((name) => (/:[^/]*$/.test(name) ? name : `${name}:latest`));
      const count = containers.length + initContainers.length;
      const nodes = model.nodes();
      const sizeOn = ({ status }: Node, name: string) =>
        (status?.images ?? []).find((image) => image.names!.includes(name))?.sizeBytes as number | undefined;
      const isKnown = count > 0 && names.some((name) => nodes.some((one) => sizeOn(one, name) !== undefined));
      const scores = nodes.map((one) => {
        const bytes = names.map((name) => {
          const sizes = nodes.flatMap((other) => sizeOn(other, name) ?? []);
          if (sizeOn(one, name) === undefined) return 0;
          return Math.floor(Math.max(...sizes) * (sizes.length / nodes.length));
        });
        const most = 1000 * mebibyte * count;
        const sum = Math.min(
          Math.max(
            bytes.reduce((a, b) => a + b, 0),
            23 * mebibyte,
          ),
          most,
        );
        return [one.metadata!.name!, Math.floor((100 * (sum - 23 * mebibyte)) / (most - 23 * mebibyte))];
      });
      return { refusals: [], refused: {}, scores: isKnown ? Object.fromEntries(scores) : {} };
    },
    { refusedMin: 0 },
  );
});
