import { Client, connectivityState, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { type GrpcCode, grpcCodeOf } from './grpc-codes.ts';

/** Delays between attempts to connect. A driver that starts after us is found within a second. */
const reconnectMinMs = 50;
const reconnectMaxMs = 1000;

export interface DriverConnectionOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Larger replies are refused before they are decoded. */
  readonly replyBytesMax: number;
}

/** When a wait or a call ends at the latest. */
export interface CallLimits {
  /** On the monotonic clock. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export type WaitResult = 'ready' | 'not-ready' | 'aborted' | 'closed';

/** The response, as bytes. `code` OK without a message is a violation of gRPC by the driver. */
export interface RawReply {
  readonly code: GrpcCode;
  readonly details: string;
  readonly message: Uint8Array | undefined;
}

/**
 * The gRPC channel to one unix socket. It connects on the first use and reconnects, with back-off, while a call waits. grpc-js decides
 * when to connect; this class adds waiting with a signal, and counts connections so that callers notice a restarted driver.
 */
export class DriverConnection {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #waiting = new Set<(result: WaitResult) => void>();
  #count = 0;
  #isClosed = false;

  constructor({ path, clock, replyBytesMax }: DriverConnectionOptions) {
    this.#clock = clock;
    this.#client = new Client(`unix:${path}`, credentials.createInsecure(), {
      'grpc.initial_reconnect_backoff_ms': reconnectMinMs,
      'grpc.min_reconnect_backoff_ms': reconnectMinMs,
      'grpc.max_reconnect_backoff_ms': reconnectMaxMs,
      'grpc.max_receive_message_length': replyBytesMax,
      // The caller decides what is repeated. A proxy is for other hosts. Channels with the same path share nothing.
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#watch(connectivityState.IDLE);
  }

  /** How often a connection was established; another number means that the driver may have been restarted. */
  get count(): number {
    return this.#count;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Connects, and waits for the connection. */
  ready({ deadlineMs, signal }: CallLimits): Promise<WaitResult> {
    if (this.#isClosed) return Promise.resolve('closed');
    if (signal.aborted) return Promise.resolve('aborted');
    if (this.#state(true) === connectivityState.READY) return Promise.resolve('ready');
    return new Promise((resolve) => {
      const finish = (result: WaitResult) => {
        timer.cancel();
        stopListening();
        this.#waiting.delete(finish);
        resolve(result);
      };
      const timer = this.#clock.after(deadlineMs - this.#clock.monotonicMs(), () => finish('not-ready'));
      const stopListening = onAbort(signal, () => finish('aborted'));
      this.#waiting.add(finish);
    });
  }

  /** Sends one request. The driver is sent the deadline, and is notified if the caller cancels the call. */
  unary(path: string, request: Uint8Array, { deadlineMs, signal }: CallLimits): Promise<RawReply> {
    const restMs = deadlineMs - this.#clock.monotonicMs();
    return new Promise((resolve) => {
      let message: Uint8Array | undefined;
      const call = this.#client.makeUnaryRequest(
        path,
        (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        (bytes: Buffer): Uint8Array => bytes,
        request,
        new Metadata(),
        { deadline: this.#clock.nowMs() + restMs },
        (_, bytes) => {
          message = bytes;
        },
      );
      // A jump of the wall clock, which gRPC's deadline depends on, must not let a call hang.
      let isLate = false;
      const timer = this.#clock.after(restMs, () => {
        isLate = true;
        call.cancel();
      });
      const stopListening = signal.aborted ? () => {} : onAbort(signal, () => call.cancel());
      if (signal.aborted) call.cancel();
      call.once('status', ({ code, details }: StatusObject) => {
        timer.cancel();
        stopListening();
        const answered = { code: grpcCodeOf(code), details, message };
        resolve(isLate && answered.code === 'Canceled' ? { ...answered, ...late } : answered);
      });
    });
  }

  /** Calls in progress end as cancelled. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.close();
    for (const finish of [...this.#waiting]) finish('closed');
  }

  #state(connect: boolean): connectivityState {
    return this.#client.getChannel().getConnectivityState(connect);
  }

  /** Watches for good; each change is reported once, so the watch is renewed. */
  #watch(from: connectivityState): void {
    this.#client.getChannel().watchConnectivityState(from, Number.POSITIVE_INFINITY, () => {
      if (this.#isClosed) return;
      const state = this.#state(this.#waiting.size > 0);
      if (state === connectivityState.READY) {
        this.#count += 1;
        for (const finish of [...this.#waiting]) finish('ready');
      }
      this.#watch(state);
    });
  }
}

const late = { code: 'DeadlineExceeded', details: 'the driver did not answer before the deadline' } as const;
