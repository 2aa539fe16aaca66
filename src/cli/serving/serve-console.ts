import { isIP } from 'node:net';
import { HttpServer } from '../../apiserver/server/http/http-server.ts';
import { newMetrics } from '../../apiserver/server/metrics.ts';
import type { Console } from '../../console/console.ts';
import { makeCertificate, type TlsKeyPair } from '../../io/tls/certificate.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { parseListenAddress } from '../flags/listen-address.ts';
import { givenPair } from './extender-tls.ts';

/** The flags of every command that serves the console on a separate port. */
export interface ConsoleServerFlags {
  /** `HOST:PORT`. */
  readonly consoleAddress?: string;
  /** One value for each use of the flag. */
  readonly consoleHost?: readonly string[];
  readonly consoleTlsCert?: string;
  readonly consoleTlsKey?: string;
}

const addressDefault = '127.0.0.1:7445';
/** A browser opens a few connections for each page. */
const connectionsMax = 1_000;

/** Where the console will listen, and with which certificate; checked before anything is started. */
export interface ConsoleServerPlan {
  readonly host: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly credentials: TlsKeyPair;
}

export async function consoleServerPlan(flags: ConsoleServerFlags): Promise<ConsoleServerPlan> {
  const { consoleAddress = addressDefault, consoleHost = [], consoleTlsCert, consoleTlsKey } = flags;
  const address = parseListenAddress(consoleAddress);
  if (address === undefined)
    throw usage(`--console-address: "${consoleAddress}" must be HOST:PORT, such as ${addressDefault}`);
  if ((consoleTlsCert === undefined) !== (consoleTlsKey === undefined))
    throw usage('--console-tls-cert and --console-tls-key: give both or neither');
  const host = address.host ?? '::';
  const hosts = [...consoleHost, ...(isIP(host) === 0 ? [host] : [])];
  const credentials =
    consoleTlsCert === undefined || consoleTlsKey === undefined
      ? makeCertificate(realClock.nowMs(), hosts)
      : await givenPair(consoleTlsCert, consoleTlsKey, {
          certificate: '--console-tls-cert',
          key: '--console-tls-key',
        });
  return { host, port: address.port, hosts, credentials };
}

export interface ServedConsole {
  /** Without a token: `https://127.0.0.1:7445/console/`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the console over HTTPS. */
export async function serveConsole(
  { host, port, credentials }: ConsoleServerPlan,
  { handle }: Pick<Console, 'handle'>,
  log: Log,
): Promise<ServedConsole> {
  try {
    const server = await HttpServer.listen({
      credentials,
      host,
      port,
      connectionsMax,
      handler: (request) => handle(request.path === '/' ? { ...request, path: '/console' } : request),
      clock: realClock,
      metrics: newMetrics(),
      onError: (error, { method, path }) => log.warn(`console: ${method} ${path}`, { error }),
    });
    const { address } = server;
    const reachable = address.host === '::' || address.host === '0.0.0.0' ? '127.0.0.1' : address.host;
    const shown = reachable.includes(':') ? `[${reachable}]` : reachable;
    return { url: `https://${shown}:${address.port}/console/`, close: () => server.close() };
  } catch (error) {
    const { message } = error as Error;
    throw new CliError(
      `--console-address: cannot listen on ${host}:${port}: ${message}; choose another address`,
      1,
      {
        cause: error,
      },
    );
  }
}
