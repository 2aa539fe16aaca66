import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { cachedFacts } from '../../console/answers/scheduler-facts.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import { emulatedVersion } from '../../kube/emulated-version.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import {
  type ConsoleServerFlags,
  type ConsoleServerPlan,
  consoleServerPlan,
  type ServedConsole,
  serveConsole,
} from '../serving/serve-console.ts';

export interface RunConsoleFlags extends ConsoleServerFlags {
  readonly console?: boolean;
  readonly consoleWrite?: boolean;
}

/** Undefined without `--console`. */
export async function runConsolePlan(flags: RunConsoleFlags): Promise<ConsoleServerPlan | undefined> {
  return flags.console === true ? await consoleServerPlan(flags) : undefined;
}

/**
 * The console of `stowage run`. It reads the cluster with the rights of this process, and shows each viewer what the viewer's own token may list.
 */
export async function runConsole(
  cluster: KubernetesCluster,
  plan: ConsoleServerPlan,
  { consoleWrite = false, log }: Pick<RunConsoleFlags, 'consoleWrite'> & { readonly log: Log },
): Promise<ServedConsole> {
  const [{ Console }, { consoleAnswers }] = await Promise.all([
    import('../../console/console.ts'),
    import('../../console/answers/console-answers.ts'),
  ]);
  const isEmbedded = (await cluster.serverVersion()) === emulatedVersion;
  const console = Console.start({
    source: { kind: 'cluster', cluster },
    answers: consoleAnswers({
      facts: cachedFacts(cluster, { isEmbedded, clock: realClock }),
    }),
    viewers: { asViewer: (token) => cluster.as(token) },
    hosts: plan.hosts,
    server: cluster.server,
    version: packageVersion(),
    canWrite: consoleWrite,
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    onError: (error, where) => log.warn(`console: ${where}`, { error }),
  });
  const served = await serveConsole(plan, console, log);
  return {
    url: served.url,
    close: async () => {
      await console.close();
      await served.close();
    },
  };
}
