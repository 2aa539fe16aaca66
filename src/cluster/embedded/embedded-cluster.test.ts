import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { clusterContract } from '../testing/cluster.contract.ts';
import { bootstrap } from './bootstrap.ts';
import { EmbeddedCluster } from './embedded-cluster.ts';
import { servedCatalogue } from './kinds/served-kinds.ts';
import { EmbeddedRegistry } from './registry/embedded-registry.ts';
import { MemoryStore } from './store/memory-store.ts';

clusterContract('in process, in memory', async () => {
  const store = new MemoryStore();
  const registry = new EmbeddedRegistry({
    store,
    kinds: servedCatalogue(),
    clock: realClock,
    ids: systemIds,
  });
  await bootstrap(registry);
  return {
    cluster: new EmbeddedCluster({ registry, manager: 'contract' }),
    close: () => store.close(),
  };
});
