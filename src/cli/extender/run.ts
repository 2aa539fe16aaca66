import { StandaloneBinding } from '../../bind/standalone-binding.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import { Extender } from '../../extender/extender.ts';
import { ExtenderServer, type ExtenderTls } from '../../extender/extender-server.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Supervisor } from '../../runtime/supervisor.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { type FeatureGates, featureGatesOf, gatedProfile } from '../flags/feature-gates.ts';
import { type ListenAddress, parseListenAddress } from '../flags/listen-address.ts';
import { type LogFlags, logOf } from '../flags/log-flags.ts';
import { ownCertificatePath, type TlsFlags, tlsOf } from '../serving/extender-tls.ts';
import { stopRequested } from '../serving/stop-signals.ts';
import { untilReached } from '../serving/until-reached.ts';
import { connect } from '../source/connect.ts';

export interface ExtenderFlags extends LogFlags, TlsFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly listen: string;
  readonly allRules?: true;
  readonly holdSeconds: string;
  readonly featureGates: string;
}

/** The pause between two attempts to read the cluster. */
const againMs = 1_000;
/** The limit for stopping. */
const stopMaxMs = 4_500;

/** `stowage extender`: serves kube-scheduler until the process is stopped. */
export async function extender(flags: ExtenderFlags): Promise<void> {
  const log = logOf(flags);
  const address = addressOf(flags.listen);
  const holdMs = holdMsOf(flags.holdSeconds);
  const gates = featureGatesOf(flags.featureGates);
  const tls = await tlsOf(flags, address.host);
  const cluster = await connect(flags, { rateLimit: false, log });
  const stop = new AbortController();
  const stopped = stopRequested().then((signal) => {
    stop.abort();
    return signal;
  });
  const supervisor = new Supervisor({
    clock: realClock,
    random: systemRandom,
    onCrash: ({ name, error }) => log.error(name, { error }),
    stopDeadlineMs: 1_000,
  });
  log.info(`reading ${cluster.server} (${cluster.source})`);
  const opening = { log, supervisor, gates, signal: stop.signal };
  const binding = await openBinding(flags, cluster, opening);
  if (binding !== undefined) {
    const served = new Extender({ binding, holdMs, signal: stop.signal });
    const server = await listen(flags, { ...address, tls, extender: served, log });
    announce(flags, server, { tls, log });
  }
  log.info(`${await stopped}: stopping`);
  realClock.after(stopMaxMs, () => process.exit(0));
  await supervisor.close();
  process.exit(0);
}

interface Opening {
  readonly log: Log;
  readonly supervisor: Supervisor;
  readonly gates: FeatureGates;
  readonly signal: AbortSignal;
}

/** Retries until the cluster answers; undefined if the process was stopped before. */
async function openBinding(
  { allRules }: ExtenderFlags,
  cluster: KubernetesCluster,
  { log, supervisor, gates, signal }: Opening,
): Promise<StandaloneBinding | undefined> {
  const options = {
    cluster,
    clock: realClock,
    random: systemRandom,
    supervisor,
    onError: (error: unknown) => log.warn('cluster', { error }),
    rules: allRules ? defaultRules : undefined,
    volumeScheduling: gates.VolumeScheduling,
    profile: gatedProfile(stowageProfile, gates),
  };
  while ((await untilReached(cluster, log, signal)) !== undefined) {
    try {
      return await StandaloneBinding.open(options, signal);
    } catch (error) {
      // The API was reachable a moment ago, so the error may be transient.
      log.warn(`cannot read ${cluster.server}, retrying`, { error });
    }
    await realClock.sleep(againMs, signal);
  }
  return undefined;
}

interface Listening extends ListenAddress {
  readonly tls: ExtenderTls | undefined;
  readonly extender: Extender;
  readonly log: Log;
}

async function listen(
  { listen: text }: ExtenderFlags,
  { log, ...options }: Listening,
): Promise<ExtenderServer> {
  try {
    return await ExtenderServer.listen({ ...options, onError: (error) => log.warn('extender', { error }) });
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CliError(`cannot listen on ${text}: ${message}; choose another address with --listen`, 1, {
      cause: error,
    });
  }
}

function announce(
  flags: ExtenderFlags,
  { url }: ExtenderServer,
  { tls, log }: Pick<Listening, 'tls' | 'log'>,
): void {
  const what = flags.allRules ? 'all rules' : 'the rules about volumes';
  const binds = tls?.clientAuthority === undefined ? '' : '; binds for callers with a certificate';
  log.info(`listening on ${url}, answering by ${what}${binds}`);
  if (tls?.clientAuthority === undefined)
    log.warn(
      `without --client-ca, everyone who can reach ${url} can make the extender reserve capacity: ` +
        "give the authority of kube-scheduler's client certificate, or let only kube-scheduler reach the address",
    );
  if (tls !== undefined && flags.tlsCert === undefined)
    log.info(`the certificate is self-signed: set tlsConfig.caFile to ${ownCertificatePath(flags)}`);
  // A wildcard address cannot be named in a certificate.
  process.stdout.write(
    `export STOWAGE_EXTENDER=${url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//localhost:')}\n`,
  );
}

// ── Flags ──

function addressOf(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined) throw usage(`--listen: "${text}" must be ADDRESS:PORT, such as 127.0.0.1:8900`);
  return address;
}

function holdMsOf(text: string): number {
  const seconds = Number(text);
  if (text !== '' && seconds >= 0 && seconds <= 3_600) return seconds * 1000;
  throw usage(`--hold-seconds: "${text}" must be a number from 0 to 3600`);
}
