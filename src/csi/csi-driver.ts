import { exponentialBackoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { type CallOptions, ConnectionChanged, type CsiClient, callTimeoutMs } from './csi-client.ts';
import { CsiCallError, CsiDriverNameError } from './csi-errors.ts';
import { type CsiMethodName, type CsiReply, type CsiRequestInit, csiMethods } from './csi-methods.ts';
import { CsiDriverIdentity, noFields } from './driver-identity.ts';
import { IdentifiedDriver } from './identified-driver.ts';

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
  /** Timeout of each call while connecting. */
  readonly timeoutMs?: number;
}

/**
 * A CSI driver whose name and capabilities are known. `connect` waits for it as long as necessary. After a reconnection the next
 * call asks again, because the driver may have been upgraded; a driver of another name is a `CsiDriverNameError`, and the call is not sent.
 */
export class CsiDriver extends IdentifiedDriver {
  readonly client: CsiClient;
  readonly #clock: Clock;
  protected override identity: CsiDriverIdentity;
  #connection: number;
  /** One for all calls that wait for it. */
  #identifying: Promise<void> | undefined;

  /** Resolves when the driver is ready. Rejects with Canceled when `signal` aborts, and if the driver breaks the rules of CSI. */
  static async connect(options: CsiDriverOptions): Promise<CsiDriver> {
    const { client, clock, signal, timeoutMs = callTimeoutMs } = options;
    await probeUntilReady(options);
    const { connection } = client;
    const identity = await identityOf(client, { signal, timeoutMs });
    client.driverName = identity.name;
    return new CsiDriver(client, clock, identity, connection);
  }

  private constructor(client: CsiClient, clock: Clock, identity: CsiDriverIdentity, connection: number) {
    super();
    this.client = client;
    this.#clock = clock;
    this.identity = identity;
    this.#connection = connection;
  }

  get vendorVersion(): string {
    return this.identity.vendorVersion;
  }

  /** To this driver only. */
  protected override async send<Name extends CsiMethodName>(
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
    const identity = await identityOf(this.client, { signal: new AbortController().signal, timeoutMs });
    if (identity.name !== this.name)
      throw new CsiDriverNameError(this.client.address, this.name, identity.name);
    this.identity = identity;
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

function identityOf(client: CsiClient, options: CallOptions): Promise<CsiDriverIdentity> {
  return CsiDriverIdentity.ask((method) => client.call(method, noFields, options));
}
