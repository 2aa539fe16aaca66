import { bootstrap } from '../../apiserver/bootstrap.ts';
import { servedCatalogue } from '../../apiserver/kinds/served-kinds.ts';
import { EmbeddedRegistry } from '../../apiserver/registry/embedded-registry.ts';
import { MemoryStore, type MemoryStoreOptions } from '../../apiserver/store/memory-store.ts';
import type { Clock } from '../../runtime/clock.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { seededRandom } from '../../runtime/random.ts';
import { EmbeddedCluster } from '../embedded-cluster.ts';
import { FaultyCluster } from './faulty-cluster.ts';

const kinds = servedCatalogue();

/** The embedded server in memory, on a clock of the test's. Two runs of a test are the same run. */
export class EmbeddedFixture {
  /** The cluster as others reach it: the test, users, whoever never has trouble. */
  readonly cluster: EmbeddedCluster;
  /** The cluster as what is tested reaches it. */
  readonly faulty: FaultyCluster;

  private constructor(registry: EmbeddedRegistry) {
    this.cluster = new EmbeddedCluster({ registry, manager: 'test' });
    this.faulty = new FaultyCluster(this.cluster);
  }

  static async start(clock: Clock, options: MemoryStoreOptions = {}): Promise<EmbeddedFixture> {
    const ids = idsFrom(seededRandom('embedded world'));
    const registry = new EmbeddedRegistry({ store: new MemoryStore(options), kinds, clock, ids });
    await bootstrap(registry);
    return new EmbeddedFixture(registry);
  }
}
