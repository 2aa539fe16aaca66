import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { labels } from '../../kube/well-known.ts';
import { readPod } from '../records/pod-record.ts';
import { clusterOf } from '../testing/cluster.ts';
import { node } from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';
import { RefusalCache } from './refusal-cache.ts';

const apart = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: labels.hostname, labelSelector: { matchLabels: { app: 'web' } } },
    ],
  },
};

/** Replicas with anti-affinity to each other. */
function replica(name: string, nodeName?: string): Pod {
  return {
    metadata: { namespace: 'default', name, uid: name, labels: { app: 'web' } },
    spec: { affinity: apart, containers: [{ name: 'main' }], ...(nodeName !== undefined && { nodeName }) },
  };
}

test('replicas without claims share one waker, and a change of one replica wakes the others', () => {
  const index = clusterOf({ Node: [node('n1', { [labels.hostname]: 'n1' })], Pod: [replica('first', 'n1')] });
  const memory = new RefusalCache<string>(index);
  const refusal = plan(replica('a'), index, { nowMs: 0 });
  if (refusal.kind === 'placement') throw new Error('there should be no place for it');
  memory.set(refusal, '');
  const [b, c] = ['b', 'c'].map((name) => memory.get(readPod(replica(name)))?.refusal);
  expect([b?.pod.name, c?.pod.name]).toEqual(['b', 'c']);
  expect(b?.waker).toBe(c?.waker);
  index.upsert('Pod', replica('a', 'n1'));
  const { change } = index.remove('Pod', 'default/a');
  expect(b?.wokenBy(change!)).toBe(true);
});
