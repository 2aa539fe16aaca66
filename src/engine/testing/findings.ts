/** Short ways to ask what stands between a pod and a node, and to read the findings. */
import { expect } from 'vitest';
import type { Finding, Margin } from '../rules/framework/finding.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { expectRefusal } from './expect-plan.ts';
import { claim, gib, node, pod, storageClass, zone } from './objects.ts';

/** A node in zone a, a class that makes no volumes, and a claim `data` of 5Gi that finds none. */
export const withoutVolumes: ClusterObjects = {
  Node: [node('n1', { [zone]: 'a' })],
  StorageClass: [storageClass('local')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

/** The findings about the only node. */
export function findingsOf(
  objects: ClusterObjects,
  asking = pod('p', ['data']),
  nowMs = 0,
): readonly Finding[] {
  const [only, ...others] = expectRefusal(clusterOf(objects), asking, nowMs).explain().nodes;
  expect(others).toEqual([]);
  return only!.findings;
}

/** `name: obstacle obstacle`, in order. */
export function candidatesIn({ candidates }: Finding): string[] {
  return candidates.map(({ name, obstacles }) => `${name}: ${obstacles.map(({ code }) => code).join(' ')}`);
}

/** What is needed, free and promised, in GiB. */
export function gibIn(margin: Margin): number[] {
  if (margin.unit !== 'bytes') return expect.fail('the margin is of attach slots');
  const { needed, free, promised } = margin;
  return [needed.bytes, free.bytes, promised.bytes].map((count) => count / gib(1));
}
