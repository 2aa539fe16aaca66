import { bootstrap } from '../../../src/apiserver/registry/bootstrap.ts';
import { builtInKindCatalog } from '../../../src/apiserver/kinds/built-in-kinds.ts';
import type { Registry } from '../../../src/apiserver/registry/registry.ts';
import { EmbeddedRegistry } from '../../../src/apiserver/registry/embedded-registry.ts';
import { ApiServer } from '../../../src/apiserver/server/api-server.ts';
import { freshCredentials } from '../../../src/apiserver/server/credentials/credentials.ts';
import type { HistoryLimits } from '../../../src/apiserver/store/history.ts';
import { MemoryStore } from '../../../src/apiserver/store/memory-store.ts';
import type { Change } from '../../../src/apiserver/store/store.ts';
import { type Clock, realClock, sleepOn } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { seededRandom } from '../../../src/runtime/random.ts';
import { type Access, accessOf } from './attacked-server.ts';

/** A server put together from its parts, so that its numbers can be read and its store overheard. */
export interface StormServer {
  readonly api: ApiServer;
  readonly registry: Registry;
  readonly access: Access;
  /** All that ever happened to config maps and pods, as the store tells it. */
  readonly changes: readonly Change[];
  readonly bugs: unknown[];
  close(): Promise<void>;
}

export interface StormOptions {
  /** How many times faster the server's minutes pass: bookmarks and time-outs come while a test runs. */
  readonly haste?: number;
  readonly history?: Partial<HistoryLimits>;
}

export async function stormServer({ haste = 1, history }: StormOptions = {}): Promise<StormServer> {
  const store = new MemoryStore({ history });
  const changes: Change[] = [];
  for (const bucket of ['configmaps', 'pods']) store.subscribe(bucket, 1, (more) => changes.push(...more));
  const registry = new EmbeddedRegistry({
    store,
    kinds: builtInKindCatalog(),
    clock: realClock,
    ids: systemIds,
  });
  await bootstrap(registry);
  const bugs: unknown[] = [];
  const api = await ApiServer.start({
    registry,
    credentials: freshCredentials({ nowMs: realClock.nowMs() }),
    clock: hastened(haste),
    random: seededRandom('storm'),
    ids: systemIds,
    onError: (error) => bugs.push(error),
  });
  return {
    api,
    registry,
    access: accessOf(api.kubeconfig),
    changes,
    bugs,
    async close() {
      await api.close();
      await store.close();
    },
  };
}

/** The real clock, but what should take long does not. */
export function hastened(haste: number): Clock {
  const after: Clock['after'] = (ms, callback) => realClock.after(ms / haste, callback);
  return { ...realClock, after, sleep: (ms, signal) => sleepOn({ after }, ms, signal) };
}
