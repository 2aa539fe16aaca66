import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { byName } from '../testing/objects.ts';
import {
  high,
  large,
  low,
  medium,
  middle,
  negative,
  pendingPod,
  preempt,
  preemptionCluster,
  runningPod,
  small,
  veryHigh,
  veryLarge,
} from './testing/preemption-cluster.ts';

interface Case {
  readonly name: string;
  readonly priority?: number;
  /** The victims of each node, from `node1` on: priority, size and, if it matters, the second in which the pod started. */
  readonly pods: readonly (readonly (readonly [number, number, number?])[])[];
  readonly expected: string;
}

const cases: readonly Case[] = [
  {
    name: 'among equal nodes the first by name is chosen',
    pods: [[[middle, large]], [[middle, large]]],
    expected: 'node1',
  },
  {
    name: 'the node with the lowest highest priority of a victim is chosen',
    pods: [
      [
        [middle, medium],
        [middle, large],
      ],
      [
        [middle, medium],
        [low, medium],
      ],
      [
        [low, medium],
        [low, medium],
      ],
    ],
    expected: 'node3',
  },
  {
    name: 'if the highest priorities are equal, the lowest sum of priorities decides',
    pods: [
      [
        [middle, medium],
        [middle, large],
      ],
      [
        [middle, large],
        [low, medium],
      ],
      [
        [middle, medium],
        [middle, medium],
      ],
    ],
    expected: 'node2',
  },
  {
    name: 'fewer victims are better than more, however far below zero their priorities are',
    pods: [
      [
        [middle, small],
        [negative, small],
        [middle, small],
        [negative, small],
      ],
      [
        [middle, large],
        [negative, medium],
      ],
      [
        [middle, medium],
        [negative, small],
        [low, small],
      ],
    ],
    expected: 'node2',
  },
  {
    name: 'each criterion applies only to the nodes that tie on the one before',
    priority: veryHigh,
    pods: [
      [
        [middle, small],
        [low, small],
        [low, small],
      ],
      [[high, large]],
      [
        [middle, medium],
        [low, small],
        [low, small],
        [low, medium],
      ],
      [
        [middle, medium],
        [middle, small],
        [middle, small],
        [negative, small],
      ],
    ],
    expected: 'node1',
  },
  {
    name: 'among otherwise equal victims those that started last are evicted',
    pods: [
      [
        [middle, medium, 2],
        [middle, medium, 2],
      ],
      [
        [middle, medium, 3],
        [middle, medium, 3],
      ],
      [
        [middle, medium, 1],
        [middle, medium, 1],
      ],
    ],
    expected: 'node2',
  },
  {
    name: 'the earliest start on each node is compared',
    pods: [
      [
        [middle, medium, 4],
        [middle, medium, 2],
      ],
      [
        [middle, medium, 5],
        [middle, medium, 1],
      ],
      [
        [middle, medium, 3],
        [middle, medium, 6],
      ],
    ],
    expected: 'node3',
  },
  {
    name: 'only the start of victims with the highest priority is compared',
    pods: [
      [
        [low, medium, 4],
        [middle, medium, 2],
      ],
      [
        [middle, medium, 6],
        [low, medium, 1],
      ],
      [
        [low, medium, 3],
        [middle, medium, 5],
      ],
    ],
    expected: 'node2',
  },
];

test.each(byName(cases))('%s', (_, { priority = high, pods, expected }) => {
  const all = pods.flatMap((entries, node) =>
    entries.map(([podPriority, size, started = 0], at) =>
      runningPod(`p${node + 1}.${at}`, `node${node + 1}`, podPriority, size, { started }),
    ),
  );
  const nodes = pods.map((_entries, at) => `node${at + 1}`);
  const asking: Pod = pendingPod('p', priority, veryLarge);
  // The order in which nodes are tried does not matter.
  for (let seed = 0; seed < nodes.length; seed++)
    expect(preempt(preemptionCluster(nodes, all), asking, { seed })).toMatchObject({ node: expected });
});
