import { test } from 'vitest';
import { plan } from './plan.ts';
import { clusterOf } from './testing/cluster.ts';
import { claim, localVolume, madeBy, node, pod } from './testing/objects.ts';

test('x', () => {
  for (const [n, k, c] of [
    [1000, 1, 8],
    [1000, 4, 8],
    [3000, 4, 8],
    [5000, 4, 8],
    [5000, 7, 8],
    [5000, 1, 4],
  ] as const) {
    const nodes = Array.from({ length: n }, (_, at) => `n${at}`);
    const index = clusterOf({
      Node: nodes.map((name) => node(name)),
      StorageClass: [madeBy('disk.csi', 'local')],
      PersistentVolume: nodes.flatMap((name) =>
        Array.from({ length: k }, (_, i) => localVolume(`v${i}-${name}`, '5Gi', name)),
      ),
      PersistentVolumeClaim: Array.from({ length: c }, (_, i) => claim(`c${i}`, `${i + 1}00Mi`)),
    });
    const t = performance.now();
    const a = plan(
      pod(
        'p',
        Array.from({ length: c }, (_, i) => `c${i}`),
      ),
      index,
      { nowMs: 0 },
    );
    console.log(n, k, c, performance.now() - t, a.kind, a.kind === 'placement' ? a.feasibleNodes : a.message);
  }
});
