import type { ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError, failure, isReason } from '../../kube/api-error.ts';
import type { Selection, WatchEvent } from '../../kube/api-requests.ts';
import { type Backoff, exponentialBackoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

const pageSizeDefault = 500;
/** Pages grow up to this size when snapshots expire before they have been read to the end. */
const pageSizeMax = 8_000;
/** Drawn for every watch, so that watches do not all end at the same time. */
const watchSecondsMin = 300;
/** A server that ends watches sooner than this is unhealthy, and gets a pause. */
const watchMsMin = 1_000;
/** A watch that lasted this long was healthy, even without events. */
const steadyMs = 60_000;
/** After so many failures in a row without an event the cache may be wrong: list again. */
const resumesMax = 5;
const backoffDefault = exponentialBackoff({ baseMs: 800, maxMs: 30_000, factor: 2, jitter: 'equal' });
/** For a resource that is not served: its definition may still be created, or be gone for good. */
const absentBackoff = exponentialBackoff({ baseMs: 800, maxMs: 60_000, factor: 2, jitter: 'equal' });

/** Receives what a reflector observes. Calls come one at a time and must not throw. */
export interface ReflectorSink<T extends KubeObject> {
  /** The complete state follows, in any number of `upsert` calls; it may be started again before it has ended. */
  beginReplace(): void;
  /** The state is complete: objects that are not in it were deleted. */
  endReplace(): void;
  upsert(object: T): void;
  remove(object: T): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: ResourceClient<T>;
  readonly selection?: Selection;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with every failure, but once for a resource that is not served; the reflector keeps running. Must neither throw nor wait. */
  readonly onError?: (error: unknown) => void;
  /** A cluster may lack the resource: then it counts as empty, without an error. The reflector looks for it once a minute. */
  readonly isOptional?: boolean | undefined;
  readonly pageSize?: number;
  /** Requests the existing objects as part of the watch if the server supports it, else in pages. */
  readonly streamInitial?: boolean;
  readonly backoff?: Backoff;
}

export interface ReflectorStatus {
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  readonly errors: number;
  readonly lastError: unknown;
  /** The version up to which the sink is complete. */
  readonly resourceVersion: string | undefined;
}

/**
 * Keeps a sink up to date with a resource: lists it page by page, watches from there, resumes where a watch ended, and lists
 * again where it cannot resume. It survives every error and ends only with its signal.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  #pageSize: number;
  #streamsInitial: boolean;
  /** The version to resume from; undefined: list first. */
  #version: string | undefined;
  /** Failures since the last success. */
  #failures = 0;
  /** Failures since the last list. */
  #failuresSinceList = 0;
  /** The server does not have the resource, as far as we know. */
  #isAbsent = false;
  #hasListed = false;
  #lists = 0;
  #watches = 0;
  #events = 0;
  #errors = 0;
  #lastError: unknown;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#backoff = options.backoff ?? backoffDefault;
    this.#pageSize = options.pageSize ?? pageSizeDefault;
    this.#streamsInitial = options.streamInitial ?? false;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#version = undefined;
    while (!signal.aborted) {
      try {
        await this.#step(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#noteFailure(error);
        await this.#pause(error, signal);
      }
    }
  }

  status(): ReflectorStatus {
    return {
      lists: this.#lists,
      watches: this.#watches,
      events: this.#events,
      errors: this.#errors,
      lastError: this.#lastError,
      resourceVersion: this.#version,
    };
  }

  async #step(signal: AbortSignal): Promise<void> {
    if (this.#version === undefined && !this.#streamsInitial) await this.#list(signal);
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const eventsBefore = this.#events;
    try {
      await this.#watch(signal);
    } finally {
      if (clock.monotonicMs() - startedMs >= steadyMs) this.#noteSuccess();
    }
    const isTooShort = clock.monotonicMs() - startedMs < watchMsMin && this.#events === eventsBefore;
    if (isTooShort && !signal.aborted)
      throw failure(503, 'ServiceUnavailable', 'the server ended a watch immediately after it started');
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, selection, sink } = this.#options;
    this.#lists += 1;
    sink.beginReplace();
    let token: string | undefined;
    let version: string;
    do {
      const options = { ...selection, limit: this.#pageSize, signal };
      const page = await client.list(token === undefined ? options : { ...options, continue: token });
      for (const object of page.items) sink.upsert(object);
      token = page.metadata.continue || undefined;
      version = page.metadata.resourceVersion;
    } while (token !== undefined);
    sink.endReplace();
    this.#version = version;
    this.#failuresSinceList = 0;
    this.#isAbsent = false;
    this.#hasListed = true;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, selection, random, sink } = this.#options;
    const timeoutSeconds = watchSecondsMin + random.int(watchSecondsMin);
    const isInitial = this.#version === undefined;
    const start = isInitial ? { sendInitialEvents: true } : { resourceVersion: this.#version ?? '' };
    this.#watches += 1;
    if (isInitial) sink.beginReplace();
    const stream = client.watch({ ...selection, ...start, bookmarks: true, timeoutSeconds, signal });
    for await (const event of stream) {
      this.#noteSuccess();
      this.#take(event, isInitial);
    }
  }

  #take(event: WatchEvent<T>, isInitial: boolean): void {
    const { sink } = this.#options;
    if (event.type === 'BOOKMARK') {
      if (isInitial && event.isInitialEnd) sink.endReplace();
      if (event.isInitialEnd || this.#version !== undefined) this.#version = event.resourceVersion;
      return;
    }
    this.#events += 1;
    if (event.type === 'DELETED') sink.remove(event.object);
    else sink.upsert(event.object);
    const version = event.object.metadata?.resourceVersion;
    // Until the initial objects are complete there is no version to resume from.
    if (version !== undefined && this.#version !== undefined) this.#version = version;
  }

  #noteSuccess(): void {
    this.#failures = 0;
    this.#failuresSinceList = 0;
    this.#isAbsent = false;
  }

  #noteFailure(error: unknown): void {
    this.#errors += 1;
    this.#lastError = error;
    this.#failures += 1;
    this.#failuresSinceList += 1;
    if (this.#meansAbsence(error)) {
      this.#noteAbsence(error);
      return;
    }
    this.#isAbsent = false;
    this.#options.onError?.(error);
    if (this.#version === undefined) this.#adaptListing(error);
    else if (!canResume(error, this.#failuresSinceList)) this.#version = undefined;
  }

  /**
   * A list of a served resource never answers 404. A client without permission gets 403 even if the resource does not exist; but
   * objects that we have seen do not disappear with our permission.
   */
  #meansAbsence(error: unknown): boolean {
    if (!(error instanceof ApiError)) return false;
    return (
      error.code === 404 || (this.#options.isOptional === true && error.code === 403 && !this.#hasListed)
    );
  }

  /** Reported once, since it may stay like this. The absence of an optional resource is not reported. */
  #noteAbsence(error: unknown): void {
    const { isOptional = false, sink, onError } = this.#options;
    this.#version = undefined;
    if (this.#isAbsent) return;
    this.#isAbsent = true;
    if (!isOptional || isReason(error, 'Forbidden')) onError?.(error);
    if (!isOptional) return;
    sink.beginReplace();
    sink.endReplace();
  }

  /** The snapshot expired before its last page, or the server cannot stream the existing objects. */
  #adaptListing(error: unknown): void {
    if (this.#streamsInitial && isReason(error, 'Invalid', 'BadRequest')) this.#streamsInitial = false;
    else if (isExpired(error)) this.#pageSize = Math.min(pageSizeMax, this.#pageSize * 4);
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const askedMs = ((error instanceof ApiError ? error.retryAfterSeconds : undefined) ?? 0) * 1000;
    // A watch that fell behind is normal: the first time, list again immediately.
    const isOrdinary = isExpired(error) && this.#failures === 1;
    const backoff = this.#isAbsent ? absentBackoff : this.#backoff;
    const backoffMs = isOrdinary ? 0 : backoff.delayMs(this.#failures - 1, random);
    await clock.sleep(Math.max(askedMs, backoffMs), signal);
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired');
}

/** Whether a watch may resume: the server is unavailable or busy, and the cache is still correct. */
function canResume(error: unknown, failures: number): boolean {
  if (isExpired(error)) return false;
  if (isReason(error, 'ServiceUnavailable', 'TooManyRequests', 'ServerTimeout', 'Timeout')) return true;
  return failures < resumesMax;
}
