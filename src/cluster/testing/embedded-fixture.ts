import { builtInKindCatalog } from '../../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../apiserver/registry/embedded-registry.ts';
import { MemoryStore, type MemoryStoreOptions } from '../../apiserver/store/memory-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { EmbeddedCluster } from '../embedded-cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../intercepted-cluster.ts';
import { recordCalls } from './fault-hooks.ts';

const kinds = builtInKindCatalog();

/** The embedded server in memory, on the test's clock. Two runs of a test do exactly the same. */
export class EmbeddedFixture {
  /** The connection of the test, and of all clients that see no faults. */
  readonly cluster: EmbeddedCluster;
  /** The connection of the code under test. */
  readonly intercepted: InterceptedCluster;
  /** The calls on that connection, including failed ones. */
  readonly calls: readonly ClusterCall[];

  private constructor(registry: EmbeddedRegistry) {
    this.cluster = new EmbeddedCluster({ registry, manager: 'test' });
    this.intercepted = new InterceptedCluster(this.cluster);
    this.calls = recordCalls(this.intercepted);
  }

  static async start(clock: Clock, options: MemoryStoreOptions = {}): Promise<EmbeddedFixture> {
    const ids = idsFrom(seededRandom('embedded fixture'));
    const registry = new EmbeddedRegistry({ store: new MemoryStore(options), kinds, clock, ids });
    await bootstrap(registry);
    return new EmbeddedFixture(registry);
  }
}
