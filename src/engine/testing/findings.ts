/** Helpers to get the findings of a refusal, and to print them in tests. */
import { expect } from 'vitest';
import type { Finding, Margin } from '../rules/framework/finding.ts';
import { type ClusterObjects, clusterOf } from './cluster.ts';
import { expectRefusal } from './expect-plan.ts';
import { claim, gib, node, pod, storageClass, zone } from './objects.ts';

/** A node in zone a, a class without a provisioner, and a claim `data` of 5Gi without a matching volume. */
export const withoutVolumes: ClusterObjects = {
  Node: [node('n1', { [zone]: 'a' })],
  StorageClass: [storageClass('local')],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

/** The findings about the only node. */
export function findingsOf(
  objects: ClusterObjects,
  target = pod('p', ['data']),
  nowMs = 0,
): readonly Finding[] {
  const [only, ...others] = expectRefusal(clusterOf(objects), target, nowMs).explain().nodes;
  expect(others).toEqual([]);
  return only!.findings;
}

/** The candidates as `name: obstacle obstacle`, in order. */
export function candidatesIn({ candidates }: Finding): string[] {
  return candidates.map(({ name, obstacles }) => `${name}: ${obstacles.map(({ code }) => code).join(' ')}`);
}

/** The needed, free and promised bytes in GiB. */
export function gibIn(margin: Margin): number[] {
  if (margin.unit !== 'bytes') return expect.fail('the margin is of attach slots');
  const { needed, free, promised } = margin;
  return [needed.bytes, free.bytes, promised.bytes].map((count) => count / gib(1));
}
