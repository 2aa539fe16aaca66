import { setMaxListeners } from 'node:events';
import { parseServerJson } from '../../apiserver/schema/json-reader.ts';
import { ApiError } from '../../kube/api-error.ts';
import { onAbort } from '../../runtime/abort.ts';
import { exponentialBackoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { Random } from '../../runtime/random.ts';
import type { Credential, Credentials } from './credentials.ts';
import { clientError, failureOfAnswer, failureOfTransport, malformedAnswer } from './failures.ts';
import type { RateLimit } from './rate-limit.ts';
import type { HttpAnswer, HttpRequest, Transport } from './transport.ts';
import { withoutManagedFields } from './without-managed-fields.ts';

const attemptsMax = 5;
const backoff = exponentialBackoff({ baseMs: 250, maxMs: 5_000, factor: 2, jitter: 'equal' });
/** If the server asks for a longer delay, the caller receives the error and decides. */
const retryAfterMsMax = 30_000;

export interface RequesterOptions {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  /** For all requests but watches; undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  readonly requestTimeoutMs: number;
  /** Called with every request that was sent, including retries, until the client is closed. */
  readonly onRequest?: ((sent: SentRequest) => void) | undefined;
}

/** For debugging. Without the content, which may be secret. */
export interface SentRequest {
  /** `GET https://host/api/v1/pods?limit=500`. */
  readonly request: string;
  /** The status of the answer, or the error. */
  readonly outcome: number | Error;
  readonly durationMs: number;
}

export interface ApiRequest extends Pick<HttpRequest, 'method' | 'path' | 'body' | 'contentType' | 'accept'> {
  readonly signal?: AbortSignal | undefined;
  /** An answer of 429 goes to the caller: a budget refuses, and waiting will not help. */
  readonly isRefusable?: boolean;
  readonly omitsManagedFields?: boolean | undefined;
}

export interface TextAnswer extends Pick<HttpAnswer, 'headers'> {
  readonly text: string;
}

/** An open watch. `abort` ends it with a reason, which the reader of `chunks` receives. */
export interface OpenStream {
  readonly chunks: AsyncIterable<Buffer>;
  abort(reason: unknown): void;
}

/**
 * Sends requests, and retries where that is safe: a read after 429, 5xx or a lost connection; a write only if the
 * server said when to retry, or if no part of it can have reached the server. Any other failure is an `ApiError`.
 */
export class Requester {
  readonly #options: RequesterOptions;
  #retries = 0;

  constructor(options: RequesterOptions) {
    this.#options = options;
  }

  /** Requests that were retried. */
  get retries(): number {
    return this.#retries;
  }

  /** The answer's JSON. */
  async exchange(call: ApiRequest): Promise<unknown> {
    return await this.#exchange(call, (text, answer) => this.#parse(text, answer, call));
  }

  /** The answer as it is, for what is not JSON. */
  async text(call: ApiRequest): Promise<TextAnswer> {
    return await this.#exchange(call, (text, { headers }) => ({ text, headers }));
  }

  async #exchange<R>(call: ApiRequest, read: (text: string, answer: HttpAnswer) => R): Promise<R> {
    const { rateLimit } = this.#options;
    return await this.#withRetries(call, rateLimit, async (scope, credential) => {
      const answer = await this.#send(call, credential, { scope, kind: 'request' });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw failureOfAnswer({ ...answer, text }, this.#describe(call));
      return read(text, answer);
    });
  }

  /** A watch, once the server has accepted it. */
  async stream(call: ApiRequest): Promise<OpenStream> {
    return await this.#withRetries(call, undefined, async (scope, credential) => {
      const answer = await this.#send(call, credential, { scope, kind: 'watch' });
      if (answer.statusCode >= 300) {
        const text = await answer.body.text();
        throw failureOfAnswer({ ...answer, text }, this.#describe(call));
      }
      scope.keep();
      return { chunks: this.#chunksOf(answer, scope, call), abort: (reason) => scope.abort(reason) };
    });
  }

  async #withRetries<R>(call: ApiRequest, rateLimit: RateLimit | undefined, attempt: Attempt<R>): Promise<R> {
    let wasRefused = false;
    for (let attempts = 1; ; attempts += 1) {
      const credential = await this.#credential(call.signal ?? neverAborted);
      await rateLimit?.turn(call.signal ?? neverAborted);
      const scope = new Scope(call.signal, this.#options);
      try {
        return await attempt(scope, credential);
      } catch (cause) {
        const failure = this.#classify(cause, call, scope);
        if (!wasRefused && failure.error.code === 401) {
          wasRefused = true;
          if (await this.#options.credentials.refused(credential).catch(() => false)) continue;
        }
        const waitMs = this.#waitMs(failure, call, attempts);
        if (waitMs === undefined) throw failure.error;
        this.#retries += 1;
        await this.#pause(waitMs, call.signal);
      } finally {
        scope.end();
      }
    }
  }

  /** A plugin may be slow; an aborted call does not wait for it. */
  async #credential(signal: AbortSignal): Promise<Credential> {
    signal.throwIfAborted();
    let stopListening = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stopListening = onAbort(signal, () => reject(signal.reason));
    });
    try {
      return await Promise.race([this.#options.credentials.current(), aborted]);
    } catch (cause) {
      signal.throwIfAborted();
      const why = messageOf(cause);
      throw clientError(401, 'Unauthorized', why, cause);
    } finally {
      stopListening();
    }
  }

  async #send(
    call: ApiRequest,
    credential: Credential,
    { scope, kind }: { readonly scope: Scope; readonly kind: 'request' | 'watch' },
  ): Promise<HttpAnswer> {
    const { method, path, body, contentType, accept } = call;
    const { transport, clock } = this.#options;
    scope.signal.throwIfAborted();
    const sentMs = clock.monotonicMs();
    try {
      const request = { method, path, body, contentType, accept, credential, signal: scope.signal };
      const answer = await transport.send(request, kind);
      this.#report(call, answer.statusCode, sentMs);
      return answer;
    } catch (error) {
      this.#report(call, error instanceof Error ? error : new Error(String(error)), sentMs);
      throw error;
    }
  }

  #report(call: ApiRequest, outcome: SentRequest['outcome'], sentMs: number): void {
    const { onRequest, clock, transport } = this.#options;
    if (onRequest === undefined || transport.isClosed) return;
    const [, query] = call.path.split('?', 2);
    const request = `${this.#describe(call)}${query === undefined ? '' : `?${query}`}`;
    onRequest({ request, outcome, durationMs: clock.monotonicMs() - sentMs });
  }

  /** An aborted call rejects with the signal's reason; every other failure is an `ApiError`. */
  #classify(cause: unknown, call: ApiRequest, scope: Scope): Failure {
    call.signal?.throwIfAborted();
    if (scope.isLate) {
      const ms = this.#options.requestTimeoutMs;
      const error = clientError(
        504,
        'Timeout',
        `${this.#describe(call)} took longer than ${ms / 1000} s`,
        cause,
      );
      return { error, wasNeverSent: false, isPermanent: true };
    }
    if (cause instanceof ApiError) return { error: cause, wasNeverSent: false, isPermanent: false };
    return failureOfTransport(cause, this.#describe(call));
  }

  /** How long to wait before the retry; undefined: no retry. */
  #waitMs(
    { error, wasNeverSent, isPermanent }: Failure,
    call: ApiRequest,
    attempts: number,
  ): number | undefined {
    const askedMs = (error.retryAfterSeconds ?? 0) * 1000;
    if (isPermanent || attempts >= attemptsMax || askedMs > retryAfterMsMax) return undefined;
    const isRead = call.method === 'GET';
    const isSafe = isRead ? error.code === 429 || error.code >= 500 : wasNeverSent;
    const isRetryRequested = error.code === 429 && askedMs > 0 && call.isRefusable !== true;
    if (!isSafe && !isRetryRequested) return undefined;
    return Math.max(askedMs, backoff.delayMs(attempts - 1, this.#options.random));
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#options.clock.sleep(ms, signal ?? neverAborted);
    signal?.throwIfAborted();
  }

  #parse(text: string, answer: HttpAnswer, call: ApiRequest): unknown {
    try {
      return parseServerJson(call.omitsManagedFields === true ? withoutManagedFields(text) : text);
    } catch {
      throw malformedAnswer({ ...answer, text }, this.#describe(call));
    }
  }

  async *#chunksOf({ body }: HttpAnswer, scope: Scope, call: ApiRequest): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) yield chunk as Buffer;
    } catch (cause) {
      call.signal?.throwIfAborted();
      if (scope.signal.aborted) throw scope.signal.reason;
      throw failureOfTransport(cause, this.#describe(call)).error;
    } finally {
      scope.release();
    }
  }

  #describe(call: ApiRequest): string {
    return this.#options.transport.describe(call);
  }
}

type Attempt<R> = (scope: Scope, credential: Credential) => Promise<R>;

interface Failure {
  readonly error: ApiError;
  readonly wasNeverSent: boolean;
  readonly isPermanent: boolean;
}

/** Never aborts. Waits use it one after another, never in parallel. */
const neverAborted = new AbortController().signal;
setMaxListeners(0, neverAborted);

/** What ends one attempt: the caller's signal, or the timeout. A stream outlives the attempt that opened it. */
class Scope {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #stopTimer: () => void;
  #isLate = false;
  #isKept = false;

  constructor(
    outer: AbortSignal | undefined,
    { clock, requestTimeoutMs }: Pick<RequesterOptions, 'clock' | 'requestTimeoutMs'>,
  ) {
    outer?.throwIfAborted();
    this.#stopListening =
      outer === undefined ? () => {} : onAbort(outer, () => this.#controller.abort(outer.reason));
    const timer = clock.after(requestTimeoutMs, () => {
      this.#isLate = true;
      this.#controller.abort(new Error('the request took too long'));
    });
    this.#stopTimer = () => timer.cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** The server has answered: the timeout no longer applies, the caller's signal does. */
  keep(): void {
    this.#isKept = true;
    this.#stopTimer();
  }

  end(): void {
    if (!this.#isKept) this.release();
  }

  release(): void {
    this.#stopTimer();
    this.#stopListening();
  }
}
