import { existsSync } from 'node:fs';
import { KubernetesCluster, type KubernetesConnectOptions } from '../../cluster/kubernetes/client.ts';
import { ConnectionSettingsError } from '../../cluster/kubernetes/connection-settings.ts';
import { realClock } from '../../runtime/clock.ts';
import { type Log, silentLog } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import { CliError } from '../errors/cli-error.ts';

/** Where `stowage up` writes its kubeconfig by default. */
const ownKubeconfig = '.stowage/kubeconfig';

export interface ConnectFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface ConnectWays extends Pick<KubernetesConnectOptions, 'rateLimit' | 'requestTimeoutMs'> {
  /** The alternative for a user without a working kubeconfig, for messages. */
  readonly instead?: string;
  /** Logs every request at level debug. */
  readonly log?: Log;
}

/** A client for the cluster of a kubeconfig. It has sent no request yet. */
export async function connect(
  { kubeconfig, context }: ConnectFlags,
  { instead, log = silentLog, ...ways }: ConnectWays = {},
): Promise<KubernetesCluster> {
  try {
    const cluster = await KubernetesCluster.connect({
      clock: realClock,
      random: systemRandom,
      env: process.env,
      ...ways,
      ...(log.writes('debug') && { onRequest: tellerOf(log) }),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    });
    for (const risk of cluster.risks) warnOnce(risk, log);
    return cluster;
  } catch (error) {
    if (!(error instanceof ConnectionSettingsError)) throw error;
    const remedies = [
      'choose a kubeconfig with --kubeconfig',
      ...ownRemedy(kubeconfig),
      instead ?? [],
    ].flat();
    throw new CliError(`${error.message}; ${remedies.join(', or ')}`, 1, { cause: error });
  }
}

const warned = new Set<string>();

/** A command may connect more than once. */
function warnOnce(text: string, log: Log): void {
  if (warned.has(text)) return;
  warned.add(text);
  log.warn(text);
}

/** A hint if `stowage up` was started in this folder and its kubeconfig is not in use. */
function ownRemedy(kubeconfig: string | undefined): readonly string[] {
  const isThere = kubeconfig === undefined && existsSync(ownKubeconfig);
  return isThere ? [`export KUBECONFIG=$PWD/${ownKubeconfig} for the cluster of stowage up here`] : [];
}

function tellerOf(log: Log): NonNullable<KubernetesConnectOptions['onRequest']> {
  return ({ request, outcome, durationMs }) => {
    const fields = typeof outcome === 'number' ? { status: outcome } : { error: outcome };
    log.debug(request, { ...fields, ms: Math.round(durationMs) });
  };
}
