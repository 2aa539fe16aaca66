import { afterAll, expect } from 'vitest';
import { builtInKindCatalog } from '../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../apiserver/registry/embedded-registry.ts';
import { FreezingRegistry } from '../apiserver/registry/testing/freezing-registry.ts';
import { MemoryStore } from '../apiserver/store/memory-store.ts';
import { realClock } from '../runtime/clock.ts';
import { systemIds } from '../runtime/ids.ts';
import { EmbeddedCluster } from './embedded-cluster.ts';
import { clusterContract } from './testing/cluster.contract.ts';

let frozen = 0;

clusterContract('in process, with frozen objects', async () => {
  const store = new MemoryStore();
  const inner = new EmbeddedRegistry({
    store,
    kinds: builtInKindCatalog(),
    clock: realClock,
    ids: systemIds,
  });
  const registry = new FreezingRegistry(inner);
  await bootstrap(registry);
  return {
    cluster: new EmbeddedCluster({ registry, manager: 'contract' }),
    async close() {
      frozen += registry.frozen;
      await store.close();
    },
  };
});

afterAll(() => expect(frozen).toBeGreaterThan(100));
