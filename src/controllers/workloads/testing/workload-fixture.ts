import { builtInKindCatalog } from '../../../apiserver/kinds/built-in-kinds.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { events, pods } from '../../../kube/resources.ts';
import type { Controller, ControllerError } from '../../../reconcile/controller.ts';
import { EventRecorder } from '../../../reconcile/event-recorder.ts';
import { MetadataCache } from '../../../reconcile/metadata-cache.ts';
import { SharedInformers } from '../../../reconcile/shared-informers.ts';
import { type Clock, realClock } from '../../../runtime/clock.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { silentLog } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { Supervisor } from '../../../runtime/supervisor.ts';

export const namespace = 'default';

/** Turns of the event loop after which the condition must be true; a turn takes well under a millisecond. */
const turnsMax = 50_000;

/** Runs controllers on a cluster until the result is disposed. */
export function runControllersOn(
  cluster: Cluster,
  controllers: readonly Controller[],
  { clock = realClock, errors = [] }: { readonly clock?: Clock; readonly errors?: ControllerError[] } = {},
): AsyncDisposable {
  const random = seededRandom('workloads');
  const supervisor = new Supervisor({ clock, random, onCrash: () => {} });
  const resources = builtInKindCatalog().all.filter(({ storedAs }) => storedAs === undefined);
  const common = { cluster, clock, random, supervisor, ids: systemIds, onError: () => {} };
  const informers = new SharedInformers(common);
  const metadataCache = new MetadataCache({ ...common, resources });
  for (const controller of controllers) {
    const recorder = new EventRecorder({
      ...common,
      events: cluster.resource(events),
      reportingController: `stowage.dev/${controller.name}`,
      reportingInstance: 'test',
    });
    const reporting = { events: recorder, metrics: new Metrics(), log: silentLog };
    const context = { ...common, resources, informers, metadataCache, ...reporting };
    const report = (error: ControllerError) => errors.push(error);
    supervisor.start(controller.name, (signal) => controller.run({ ...context, report }, signal));
  }
  return supervisor;
}

/** Turns the event loop until the condition is true; fails with the last value if it never is. */
export async function eventually<T>(look: () => Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  let seen = await look();
  for (let turn = 0; turn < turnsMax && !isRight(seen); turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    seen = await look();
  }
  if (!isRight(seen))
    throw new Error(`the condition never became true; the last value was ${JSON.stringify(seen)}`);
  return seen;
}

/** Simulates the node: the pod runs, and is ready or not since `since`. */
export async function setRunning(
  cluster: Cluster,
  name: string,
  { isReady = true, since = '2026-01-01T00:00:00Z' } = {},
): Promise<void> {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }];
  await setStatus(cluster, name, { phase: 'Running', conditions });
}

export async function setStatus(cluster: Cluster, name: string, status: object): Promise<void> {
  const patch = { type: 'merge', body: { status } } as const;
  await cluster.resource(pods).patch({ namespace, name }, patch, { subresource: 'status' });
}

export async function podsOf(cluster: Cluster): Promise<readonly Pod[]> {
  const { items } = await cluster.resource(pods).list({ namespace });
  return items.toSorted((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
}

export async function podNames(cluster: Cluster): Promise<readonly string[]> {
  return (await podsOf(cluster)).map(({ metadata }) => metadata?.name ?? '');
}

/** Makes every new pod run and be ready immediately, until disposed. */
export function healthyNodes(cluster: Cluster): Controller {
  return {
    name: 'nodes',
    async run(_context, signal) {
      for await (const event of cluster.resource(pods).watch({ namespace, signal })) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
        const { metadata, status } = event.object;
        if (status?.phase !== 'Pending' || metadata?.deletionTimestamp !== undefined) continue;
        await setRunning(cluster, metadata?.name ?? '').catch(() => {});
      }
    },
  };
}
