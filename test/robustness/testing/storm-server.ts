import { builtInKindCatalog } from '../../../src/apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../../src/apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../../src/apiserver/registry/embedded-registry.ts';
import type { Registry } from '../../../src/apiserver/registry/registry.ts';
import { ApiServer } from '../../../src/apiserver/server/api-server.ts';
import { createCredentials } from '../../../src/apiserver/server/credentials/credentials.ts';
import type { HistoryLimits } from '../../../src/apiserver/store/history.ts';
import { MemoryStore } from '../../../src/apiserver/store/memory-store.ts';
import type { StoreChange } from '../../../src/apiserver/store/store.ts';
import { type Clock, realClock, sleepOn } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { seededRandom } from '../../../src/runtime/random.ts';
import { type AttackedAccess, accessOf } from './attacked-server.ts';

/** A server built from its parts, so that tests can read its metrics and observe its store. */
export interface StormServer {
  readonly api: ApiServer;
  readonly registry: Registry;
  readonly access: AttackedAccess;
  /** All changes of config maps and pods in the store. */
  readonly changes: readonly StoreChange[];
  readonly bugs: unknown[];
  close(): Promise<void>;
}

export interface StormOptions {
  /** How many times faster the server's time passes, so that bookmarks and timeouts occur during a test. */
  readonly speedup?: number;
  readonly history?: Partial<HistoryLimits>;
}

export async function stormServer({ speedup = 1, history }: StormOptions = {}): Promise<StormServer> {
  const store = new MemoryStore({ history });
  const changes: StoreChange[] = [];
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
    credentials: createCredentials({ nowMs: realClock.nowMs() }),
    clock: acceleratedClock(speedup),
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

/** The real clock, with shorter timers. */
export function acceleratedClock(speedup: number): Clock {
  const after: Clock['after'] = (ms, callback) => realClock.after(ms / speedup, callback);
  return { ...realClock, after, sleep: (ms, signal) => sleepOn({ after }, ms, signal) };
}
