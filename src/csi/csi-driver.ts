import { exponentialBackoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { type CallOptions, ConnectionChanged, type CsiClient, callTimeoutMs } from './csi-client.ts';
import { CsiCallError, CsiDriverNameError } from './csi-errors.ts';
import { type CsiMethodName, type CsiReply, type CsiRequestInit, csiMethods } from './csi-methods.ts';
import {
  ControllerServiceCapability_RPC_Type as ControllerCapability,
  NodeServiceCapability_RPC_Type as NodeCapability,
  PluginCapability_Service_Type as PluginCapability,
} from './generated/csi.ts';

/** Between probes of a driver that is not ready. */
const probeBackoff = exponentialBackoff({ baseMs: 250, maxMs: 5000, factor: 2, jitter: 'equal' });

/** A driver that restarts more often than this during one call is not usable. */
const identificationsPerCallMax = 3;

export interface CsiDriverOptions {
  readonly client: CsiClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Of each call while connecting. */
  readonly timeoutMs?: number;
}

/** What a driver says about itself. */
interface DriverIdentity {
  readonly name: string;
  readonly vendorVersion: string;
  readonly plugin: ReadonlySet<number>;
  readonly controller: ReadonlySet<number>;
  readonly node: ReadonlySet<number>;
}

/**
 * A CSI driver whose name and capabilities are known. `connect` waits for it as long as necessary. After a reconnection the next
 * call asks again, because the driver may have been upgraded; a driver of another name is a `CsiDriverNameError`, and the call is not sent.
 */
export class CsiDriver {
  readonly client: CsiClient;
  readonly #clock: Clock;
  #identity: DriverIdentity;
  #connection: number;
  /** One for all calls that wait for it. */
  #identifying: Promise<void> | undefined;

  /** Resolves when the driver is ready. Rejects with Canceled when `signal` aborts, and if the driver breaks the rules of CSI. */
  static async connect(options: CsiDriverOptions): Promise<CsiDriver> {
    const { client, clock, signal, timeoutMs = callTimeoutMs } = options;
    await probeUntilReady(options);
    const { connection } = client;
    const identity = await identify(client, { signal, timeoutMs });
    client.driverName = identity.name;
    return new CsiDriver(client, clock, identity, connection);
  }

  private constructor(client: CsiClient, clock: Clock, identity: DriverIdentity, connection: number) {
    this.client = client;
    this.#clock = clock;
    this.#identity = identity;
    this.#connection = connection;
  }

  get name(): string {
    return this.#identity.name;
  }

  get vendorVersion(): string {
    return this.#identity.vendorVersion;
  }

  /** Whether volumes are not accessible from every node; only then does the driver read and return topology. */
  get hasTopology(): boolean {
    return this.#identity.plugin.has(PluginCapability.VOLUME_ACCESSIBILITY_CONSTRAINTS);
  }

  hasPluginCapability(capability: keyof typeof PluginCapability): boolean {
    return this.#identity.plugin.has(PluginCapability[capability]);
  }

  hasControllerCapability(capability: keyof typeof ControllerCapability): boolean {
    return this.#identity.controller.has(ControllerCapability[capability]);
  }

  hasNodeCapability(capability: keyof typeof NodeCapability): boolean {
    return this.#identity.node.has(NodeCapability[capability]);
  }

  /** As `CsiClient.call`, to this driver only. */
  async call<Name extends CsiMethodName>(
    name: Name,
    request: CsiRequestInit<Name>,
    { signal, timeoutMs = callTimeoutMs }: Omit<CallOptions, 'connection'>,
  ): Promise<CsiReply<Name>> {
    const deadlineMs = this.#clock.monotonicMs() + timeoutMs;
    for (let attempt = 0; attempt < identificationsPerCallMax; attempt++) {
      try {
        const restMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
        const options = { signal, timeoutMs: restMs, connection: this.#connection };
        return await this.client.call(name, request, options);
      } catch (error) {
        if (!(error instanceof ConnectionChanged)) throw error;
        await this.#identifyAgain(timeoutMs);
      }
    }
    const call = { driver: this.name, method: name, kind: csiMethods[name].kind };
    throw new CsiCallError(call, 'Unavailable', 'the driver restarts again and again', { sent: false });
  }

  #identifyAgain(timeoutMs: number): Promise<void> {
    this.#identifying ??= this.#replaceIdentity(timeoutMs).finally(() => {
      this.#identifying = undefined;
    });
    return this.#identifying;
  }

  async #replaceIdentity(timeoutMs: number): Promise<void> {
    const { connection } = this.client;
    // Serves several calls, so it has the signal of none; its deadline ends it.
    const identity = await identify(this.client, { signal: new AbortController().signal, timeoutMs });
    if (identity.name !== this.name)
      throw new CsiDriverNameError(this.client.address, this.name, identity.name);
    this.#identity = identity;
    this.#connection = connection;
  }
}

/** A driver may need minutes after its start. Only an answer that cannot change by waiting ends this. */
async function probeUntilReady(options: CsiDriverOptions): Promise<void> {
  const { client, clock, random, log, signal, timeoutMs = callTimeoutMs } = options;
  for (let attempt = 0; ; attempt++) {
    const problem = await probe(client, { signal, timeoutMs });
    if (problem === undefined) return;
    log.info('waiting for the CSI driver', { address: client.address, reason: problem });
    await clock.sleep(probeBackoff.delayMs(attempt, random), signal);
  }
}

/** Undefined if the driver is ready, else why not. */
async function probe(client: CsiClient, options: CallOptions): Promise<string | undefined> {
  try {
    const { ready } = await client.call('Probe', {}, options);
    // Left out means ready.
    return ready === false ? 'it is not ready yet' : undefined;
  } catch (error) {
    // FailedPrecondition: "not healthy" in CSI.
    const canWait = ['Unavailable', 'DeadlineExceeded', 'FailedPrecondition'];
    if (error instanceof CsiCallError && canWait.includes(error.code)) return error.message;
    throw error;
  }
}

async function identify(client: CsiClient, options: CallOptions): Promise<DriverIdentity> {
  const { name, vendorVersion } = await client.call('GetPluginInfo', {}, options);
  const pluginReply = await client.call('GetPluginCapabilities', {}, options);
  const plugin = pluginReply.capabilities.flatMap(({ type }) =>
    type.case === 'service' ? [type.value.type] : [],
  );
  const hasController = plugin.includes(PluginCapability.CONTROLLER_SERVICE);
  return {
    name,
    vendorVersion,
    plugin: new Set<number>(plugin),
    controller: new Set(
      hasController ? await capabilities(client, 'ControllerGetCapabilities', options) : [],
    ),
    node: new Set(await capabilities(client, 'NodeGetCapabilities', options)),
  };
}

/** None where the service is not served: a controller plugin need not have the node service. */
async function capabilities(
  client: CsiClient,
  method: 'ControllerGetCapabilities' | 'NodeGetCapabilities',
  options: CallOptions,
): Promise<number[]> {
  try {
    const reply = await client.call(method, {}, options);
    return reply.capabilities.flatMap(({ type }): number[] => (type.case === 'rpc' ? [type.value.type] : []));
  } catch (error) {
    if (error instanceof CsiCallError && error.code === 'Unimplemented') return [];
    throw error;
  }
}
