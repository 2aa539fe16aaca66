import { type ConnectOptions, KubernetesCluster } from '../cluster/kubernetes/client.ts';
import { ConnectionSettingsError } from '../cluster/kubernetes/connection-settings.ts';
import { realClock } from '../runtime/clock.ts';
import { systemRandom } from '../runtime/random.ts';
import { CliError } from './cli-error.ts';

export interface ConnectFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface ConnectWays extends Pick<ConnectOptions, 'rateLimit' | 'requestTimeoutMs'> {
  /** What else the caller can do without a kubeconfig that works. */
  readonly instead?: string;
}

/** The cluster that a kubeconfig leads to; nothing has been asked of it yet. */
export async function connect(
  { kubeconfig, context }: ConnectFlags,
  { instead, ...ways }: ConnectWays = {},
): Promise<KubernetesCluster> {
  try {
    return await KubernetesCluster.connect({
      clock: realClock,
      random: systemRandom,
      env: process.env,
      ...ways,
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    });
  } catch (error) {
    if (!(error instanceof ConnectionSettingsError)) throw error;
    const remedy = `choose a kubeconfig with --kubeconfig${instead === undefined ? '' : `, or ${instead}`}`;
    throw new CliError(`${error.message}; ${remedy}`, 1, { cause: error });
  }
}
