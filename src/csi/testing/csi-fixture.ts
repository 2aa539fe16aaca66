import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '../../runtime/clock.ts';
import { type Log, lineLog } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { CsiClient } from '../csi-client.ts';
import { CsiDriver } from '../csi-driver.ts';
import { CsiCallError } from '../csi-errors.ts';
import { CsiServer, type CsiServices } from '../csi-server.ts';
import { PluginCapability_Service_Type } from '../generated/csi.ts';

/** A folder with the socket of one test, and what clients and servers need beside it. */
export class CsiFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'csi-'));
  readonly path = join(this.folder, 'csi.sock');
  readonly metrics = new Metrics();
  readonly logged: string[] = [];
  readonly log: Log = lineLog({
    level: 'debug',
    format: 'json',
    clock: realClock,
    write: (line) => this.logged.push(line),
  });
  readonly signal = new AbortController().signal;
  readonly #closers: (() => unknown)[] = [];

  client(options: { readonly replyBytesMax?: number } = {}): CsiClient {
    const { metrics, log, path: address } = this;
    const client = new CsiClient({ address, clock: realClock, log, metrics, ...options });
    this.onClose(() => client.close());
    return client;
  }

  connect(client: CsiClient, signal = this.signal, timeoutMs = 60_000): Promise<CsiDriver> {
    const random = seededRandom('csi');
    return CsiDriver.connect({ client, clock: realClock, random, log: this.log, signal, timeoutMs });
  }

  /** Waits until the client has noticed that a driver was replaced; until then, calls fail on the old connection. */
  async reconnected(client: CsiClient): Promise<void> {
    for (;;) {
      try {
        await client.call('Probe', {}, { signal: this.signal, timeoutMs: 60_000 });
        return;
      } catch (error) {
        const isOfOldConnection =
          error instanceof CsiCallError && /^(Unavailable|Canceled)$/.test(error.code);
        if (!isOfOldConnection) throw error;
      }
    }
  }

  async serve(
    services: CsiServices,
    options: { readonly requestBytesMax?: number } = {},
  ): Promise<CsiServer> {
    const server = await CsiServer.start({
      address: `unix://${this.path}`,
      services,
      clock: realClock,
      log: this.log,
      ...options,
    });
    this.onClose(() => server.stop(0));
    return server;
  }

  onClose(close: () => unknown): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    rmSync(this.folder, { recursive: true });
  }
}

/** The identity service of a driver with a controller, and with topology unless that is off. */
export function identityOf(
  name: string,
  { hasTopology = true }: { readonly hasTopology?: boolean | undefined } = {},
): CsiServices['identity'] {
  const { CONTROLLER_SERVICE, VOLUME_ACCESSIBILITY_CONSTRAINTS } = PluginCapability_Service_Type;
  return {
    getPluginInfo: async () => ({ name, vendorVersion: '1.0' }),
    probe: async () => ({}),
    getPluginCapabilities: async () => ({
      capabilities: [CONTROLLER_SERVICE, ...(hasTopology ? [VOLUME_ACCESSIBILITY_CONSTRAINTS] : [])].map(
        (type) => ({
          type: { case: 'service' as const, value: { type } },
        }),
      ),
    }),
  };
}
