import { existsSync } from 'node:fs';
import { KubernetesCluster, type KubernetesConnectOptions } from '../cluster/kubernetes/client.ts';
import { ConnectionSettingsError } from '../cluster/kubernetes/connection-settings.ts';
import { realClock } from '../runtime/clock.ts';
import { type Log, silentLog } from '../runtime/log.ts';
import { systemRandom } from '../runtime/random.ts';
import { CliError } from './cli-error.ts';

/** Where `stowage up` writes it unless told otherwise. */
const ownKubeconfig = '.stowage/kubeconfig';

export interface ConnectFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface ConnectWays extends Pick<KubernetesConnectOptions, 'rateLimit' | 'requestTimeoutMs'> {
  /** What else the caller can do without a kubeconfig that works. */
  readonly instead?: string;
  /** Told of every request, at debug. */
  readonly log?: Log;
}

/** The cluster that a kubeconfig leads to; nothing has been asked of it yet. */
export async function connect(
  { kubeconfig, context }: ConnectFlags,
  { instead, log = silentLog, ...ways }: ConnectWays = {},
): Promise<KubernetesCluster> {
  try {
    return await KubernetesCluster.connect({
      clock: realClock,
      random: systemRandom,
      env: process.env,
      ...ways,
      ...(log.writes('debug') && { onRequest: tellerOf(log) }),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    });
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

/** Where `stowage up` was started in this folder, and nobody has said that it is meant. */
function ownRemedy(kubeconfig: string | undefined): readonly string[] {
  const isThere = kubeconfig === undefined && existsSync(ownKubeconfig);
  return isThere ? [`export KUBECONFIG=$PWD/${ownKubeconfig} for the cluster of stowage up here`] : [];
}

function tellerOf(log: Log): NonNullable<KubernetesConnectOptions['onRequest']> {
  return ({ request, outcome, durationMs }) => {
    const told = typeof outcome === 'number' ? { status: outcome } : { error: outcome };
    log.debug(request, { ...told, ms: Math.round(durationMs) });
  };
}
