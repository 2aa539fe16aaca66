import { expect, test } from 'vitest';
import { assess } from './assess.ts';
import { volumeRules } from './rules/volume-rules.ts';
import { clusterOf } from './testing/cluster.ts';
import { claim, csiNode, localVolume, node, pod, storageClass, volume } from './testing/objects.ts';

const objects = {
  Node: ['n1', 'n2', 'n3'].map((name) => node(name)),
  StorageClass: [storageClass('local')],
  PersistentVolume: [localVolume('v1', '5Gi', 'n1'), localVolume('v2', '10Gi', 'n2')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};
const options = { nowMs: 0, rules: volumeRules };

test('every node has an answer, in the given order', () => {
  const nodes = ['n2', 'ghost', 'n3', 'n1'];
  const { answers } = assess(pod('p', ['data']), clusterOf(objects), { ...options, nodes });
  expect(answers.map(({ kind, node: name }) => `${name} ${kind}`)).toEqual([
    'n2 fits',
    'ghost unknown',
    'n3 refused',
    'n1 fits',
  ]);
  expect(answers.map((answer) => ('score' in answer ? answer.score : -1))).toEqual([75, -1, -1, 100]);
});

test('the placement on a node is that of a plan for this node alone', () => {
  const assessment = assess(pod('p', ['data']), clusterOf(objects), {
    ...options,
    nodes: ['n1', 'n2', 'n3'],
  });
  const volumes = ['n1', 'n2', 'n3', 'ghost'].map((name) =>
    assessment.placementOn(name)?.bindings.map((binding) => binding.volume),
  );
  expect(volumes).toEqual([['v1'], ['v2'], undefined, undefined]);
});

test('a refusal is unresolvable unless evicting pods may help', () => {
  const index = clusterOf({
    ...objects,
    CSINode: [csiNode('n1', { d: 0 })],
    PersistentVolume: [volume('v', '5Gi', { spec: { csi: { driver: 'd', volumeHandle: 'v' } } })],
    PersistentVolumeClaim: [claim('data', '5Gi'), claim('more', '50Gi')],
  });
  const isUnresolvable = (name: string) => {
    const [answer] = assess(pod('p', [name]), index, { ...options, nodes: ['n1'] }).answers;
    return answer?.kind === 'refused' ? answer.isUnresolvable : undefined;
  };
  expect([isUnresolvable('data'), isUnresolvable('more'), isUnresolvable('absent')]).toEqual([
    false,
    true,
    true,
  ]);
});
