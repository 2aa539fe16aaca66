import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/error-message.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { CallMetrics, unknownDriver } from './call-metrics.ts';
import { InvalidField } from './checks/field-checks.ts';
import { checkReply } from './checks/reply-checks.ts';
import { socketPathOf } from './csi-address.ts';
import { CsiCallError, CsiError, CsiMessageSizeError, CsiReplyError, type FailedCall } from './csi-errors.ts';
import {
  type CsiMethodName,
  type CsiReply,
  type CsiRequest,
  type CsiRequestInit,
  csiMethods,
  methodPath,
} from './csi-methods.ts';
import { type CallLimits, DriverConnection, type RawReply } from './driver-connection.ts';
import type { GrpcCode } from './grpc-codes.ts';
import { messageText, withoutSecretsOf } from './message-text.ts';

/** The default of external-provisioner's `--timeout`. */
export const callTimeoutMs = 10_000;

/** gRPC's own default. A page of 10,000 volumes fits. */
const replyBytesMaxDefault = 4 * 1024 * 1024;

export interface CsiClientOptions {
  /** `unix:///path` or an absolute path. */
  readonly address: string;
  /** The flag that the address comes from, for errors. */
  readonly addressSource?: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly replyBytesMax?: number;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Includes the wait for a driver that is not there yet. */
  readonly timeoutMs?: number;
  /** Send only on this connection; `ConnectionChanged` is thrown if there is another one by now. */
  readonly connection?: number;
}

/**
 * Calls the CSI driver at one address. A call connects if necessary and waits until its deadline for a driver that is starting,
 * restarting or hanging. Any number of calls may run concurrently. A call rejects with a `CsiError`, whose `outcome` says what to do; an
 * aborted one has the code Canceled. Replies are checked: what CSI forbids is a `CsiReplyError`.
 */
export class CsiClient {
  readonly address: string;
  /** Set once it is known; used in errors, logs and metrics. */
  driverName: string | undefined;
  readonly #connection: DriverConnection;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: CallMetrics;

  constructor(options: CsiClientOptions) {
    const { address, addressSource = 'CSI address', clock, log, metrics } = options;
    const path = socketPathOf(address, addressSource);
    this.address = `unix://${path}`;
    this.#clock = clock;
    this.#log = log;
    this.#metrics = new CallMetrics(metrics);
    this.#connection = new DriverConnection({
      path,
      clock,
      replyBytesMax: options.replyBytesMax ?? replyBytesMaxDefault,
    });
  }

  /** Another number means another connection, perhaps to another process. */
  get connection(): number {
    return this.#connection.count;
  }

  async call<Name extends CsiMethodName>(
    name: Name,
    init: CsiRequestInit<Name>,
    { signal, timeoutMs = callTimeoutMs, connection }: CallOptions,
  ): Promise<CsiReply<Name>> {
    const { rpc } = csiMethods[name];
    // The table is typed by name; the generic message functions cannot follow it.
    const request = create(rpc.input, init as never) as CsiRequest<Name>;
    const startMs = this.#clock.monotonicMs();
    if (this.#log.writes('debug')) {
      this.#log.debug('CSI call', {
        ...this.#fields(name),
        request: messageText(rpc.input, request as never),
      });
    }
    try {
      const limits = { deadlineMs: startMs + timeoutMs, signal };
      await this.#ready(name, limits, connection);
      const reply = await this.#send(name, request, limits);
      this.#finish(name, 'OK', startMs, { reply: () => messageText(rpc.output, reply as never) });
      return reply;
    } catch (error) {
      if (error instanceof CsiError) this.#finish(name, codeOf(error), startMs, { error });
      throw error;
    }
  }

  /** Calls in progress are rejected with the code Canceled. */
  close(): void {
    this.#connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #ready(name: CsiMethodName, limits: CallLimits, connection: number | undefined): Promise<void> {
    const result = await this.#connection.ready(limits);
    const call = this.#describe(name);
    if (result === 'aborted')
      throw new CsiCallError(call, 'Canceled', 'the caller aborted the call', { sent: false });
    if (result === 'closed')
      throw new CsiCallError(call, 'Canceled', 'the client is closed', { sent: false });
    if (result === 'not-ready') {
      const details = `no driver answers at ${this.address}; start it, or correct the address`;
      throw new CsiCallError(call, 'Unavailable', details, { sent: false });
    }
    if (connection !== undefined && connection !== this.#connection.count) throw new ConnectionChanged();
  }

  async #send<Name extends CsiMethodName>(
    name: Name,
    request: CsiRequest<Name>,
    limits: CallLimits,
  ): Promise<CsiReply<Name>> {
    const { rpc } = csiMethods[name];
    const bytes = toBinary(rpc.input, request as never);
    const raw = await this.#connection.unary(methodPath(rpc), bytes, limits);
    const call = this.#describe(name);
    if (raw.code !== 'OK') {
      const details = withoutSecretsOf(rpc.input, request as never, raw.details);
      if (isAboutMessageSize(raw)) throw new CsiMessageSizeError(call, details);
      throw new CsiCallError(call, raw.code, details, { sent: true });
    }
    return checkedReply(call, name, raw, request);
  }

  #finish(
    name: CsiMethodName,
    code: GrpcCode,
    startMs: number,
    { reply, error }: { readonly reply?: () => string; readonly error?: CsiError },
  ): void {
    const seconds = (this.#clock.monotonicMs() - startMs) / 1000;
    this.#metrics.record(this.driverName ?? unknownDriver, methodPath(csiMethods[name].rpc), code, seconds);
    if (!this.#log.writes('debug')) return;
    this.#log.debug('CSI reply', { ...this.#fields(name), code, seconds, reply: reply?.(), error });
  }

  #fields(method: CsiMethodName): { readonly driver: string; readonly method: string } {
    return { driver: this.driverName ?? this.address, method };
  }

  #describe(method: CsiMethodName): FailedCall {
    return { ...this.#fields(method), kind: csiMethods[method].kind };
  }
}

/** Thrown in place of sending a request on another connection than the caller asked for; nothing was sent. */
export class ConnectionChanged extends Error {
  override readonly name = 'ConnectionChanged';
}

function checkedReply<Name extends CsiMethodName>(
  call: FailedCall,
  name: Name,
  { message }: RawReply,
  request: CsiRequest<Name>,
): CsiReply<Name> {
  if (message === undefined) throw new CsiReplyError(call, '', 'the driver sent no message');
  const { output } = csiMethods[name].rpc;
  let reply: CsiReply<Name> | undefined;
  try {
    reply = fromBinary(output, message, { readUnknownFields: false }) as CsiReply<Name>;
    checkReply(name, reply, request);
    return reply;
  } catch (cause) {
    if (cause instanceof InvalidField)
      throw new CsiReplyError(call, cause.field, cause.problem, { reply, cause });
    throw new CsiReplyError(call, '', `it cannot be decoded: ${messageOf(cause)}`, { cause });
  }
}

/** gRPC libraries have no code of their own for messages over a limit, neither for ours nor for the driver's. */
function isAboutMessageSize({ code, details }: RawReply): boolean {
  return code === 'ResourceExhausted' && /\b(received|sent|send) message larger than max\b/i.test(details);
}

/** A reply that cannot be used counts as Internal, as gRPC libraries count replies that they cannot decode. */
function codeOf(error: CsiError): GrpcCode {
  if (error instanceof CsiCallError) return error.code;
  return error instanceof CsiMessageSizeError ? 'ResourceExhausted' : 'Internal';
}
