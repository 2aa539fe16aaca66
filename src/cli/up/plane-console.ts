import { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { cachedFacts } from '../../console/answers/scheduler-facts.ts';
import type { Console } from '../../console/console.ts';
import type { EmbeddedControlPlane } from '../../embedded/embedded-control-plane.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { ConsolePages } from './console-pages.ts';

export interface PlaneConsoleOptions {
  readonly host: string;
  readonly consoleWrite?: boolean;
  readonly consoleHost?: readonly string[];
  readonly log: Log;
}

export interface PlaneConsole {
  readonly console: Console;
  /** Includes the token. */
  readonly url: string;
}

/** Starts the console of `stowage up`, and returns its URL. Its token allows reading everything in the console, and nothing in the API. */
export async function consoleOfPlane(
  plane: EmbeddedControlPlane,
  pages: ConsolePages,
  { host, consoleWrite = false, consoleHost = [], log }: PlaneConsoleOptions,
): Promise<PlaneConsole> {
  // Most runs of `up` never need these modules, so they are loaded after the server answers.
  const [{ Console }, { consoleAnswers }] = await Promise.all([
    import('../../console/console.ts'),
    import('../../console/answers/console-answers.ts'),
  ]);
  const { url, certificate } = plane.server;
  const ownToken = plane.server.tokenFor('console');
  const api = await KubernetesCluster.connect({
    clock: realClock,
    random: systemRandom,
    env: {},
    // Not from the kubeconfig file, which a full disk may have kept from being written.
    settings: {
      source: 'this process',
      server: url,
      certificateAuthority: { kind: 'data', bytes: Buffer.from(certificate) },
      user: {},
    },
    rateLimit: false,
  });
  const console = Console.start({
    source: { kind: 'cluster', cluster: plane.cluster },
    answers: consoleAnswers({
      facts: cachedFacts(plane.cluster, { isEmbedded: true, clock: realClock }),
    }),
    viewers: { ownToken, asViewer: (token) => api.as(token) },
    hosts: [host, ...consoleHost],
    server: url,
    version: packageVersion(),
    canWrite: consoleWrite,
    clock: realClock,
    random: systemRandom,
    ids: systemIds,
    onError: (error, where) => log.warn(`console: ${where}`, { error }),
  });
  pages.serve(console);
  return { console, url: `${url}/console/?token=${ownToken}` };
}
