import type { ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError, failure, isReason } from '../../kube/api-error.ts';
import type { Selection, WatchEvent } from '../../kube/api-requests.ts';
import { type Backoff, exponentialBackoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

const pageSizeDefault = 500;
/** Pages grow to this when snapshots expire before they have been read to the end. */
const pageSizeMax = 8_000;
/** Drawn anew for every watch, so that watches do not all end at once. */
const watchSecondsMin = 300;
/** A server that ends watches sooner than this is not well, and gets a pause. */
const watchMsMin = 1_000;
/** A watch that lasted this long was well, even if nothing happened. */
const steadyMs = 60_000;
/** So many failures in a row without an event, and what we know may be wrong: list again. */
const resumesMax = 5;
const backoffDefault = exponentialBackoff({ baseMs: 800, maxMs: 30_000, factor: 2, jitter: 'equal' });
/** For a resource that is not served: its definition may be on its way, or be gone for good. */
const absentBackoff = exponentialBackoff({ baseMs: 800, maxMs: 60_000, factor: 2, jitter: 'equal' });

/** Where a reflector puts what it sees. Calls come one at a time and must not throw. */
export interface ReflectorSink<T extends KubeObject> {
  /** Everything there is follows, in any number of `upsert`; it may begin again before it has ended. */
  beginReplace(): void;
  /** That was everything: what was not among it is gone. */
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
  /** Told of every failure, of a resource that is not served once; the reflector goes on. Must neither throw nor wait. */
  readonly onError?: (error: unknown) => void;
  /** A cluster may be without the resource: then there are no objects, and nothing is wrong. It is looked for again, once a minute. */
  readonly isOptional?: boolean | undefined;
  readonly pageSize?: number;
  /** Ask for the objects there are as part of the watch, where the server can; else in pages. */
  readonly streamInitial?: boolean;
  readonly backoff?: Backoff;
}

export interface ReflectorStatus {
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  readonly errors: number;
  readonly lastError: unknown;
  /** Up to which version the sink knows all. */
  readonly resourceVersion: string | undefined;
}

/**
 * Keeps a sink in line with a resource: lists it page by page, then watches from there, resumes where a watch ended, and lists
 * again where it cannot resume. It survives every error and ends only with its signal.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  #pageSize: number;
  #streamsInitial: boolean;
  /** Where to resume; undefined: list first. */
  #version: string | undefined;
  /** Failures since something last went well. */
  #failures = 0;
  /** Of those, the ones since the last list. */
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
    const isFutile = clock.monotonicMs() - startedMs < watchMsMin && this.#events === eventsBefore;
    if (isFutile && !signal.aborted)
      throw failure(503, 'ServiceUnavailable', 'the server ended a watch as soon as it had begun');
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
    // Until the initial objects are complete there is nothing to resume from.
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
   * A list of what is served never answers 404. Whoever has no rights to a resource is told just that also where it does not exist; but
   * what we have seen of it does not go away with our rights.
   */
  #meansAbsence(error: unknown): boolean {
    if (!(error instanceof ApiError)) return false;
    return (
      error.code === 404 || (this.#options.isOptional === true && error.code === 403 && !this.#hasListed)
    );
  }

  /** Said once, since it may stay so for ever. That a cluster does without what is optional needs no word. */
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

  /** The snapshot was gone before its last page, or the server cannot stream what there is. */
  #adaptListing(error: unknown): void {
    if (this.#streamsInitial && isReason(error, 'Invalid', 'BadRequest')) this.#streamsInitial = false;
    else if (isExpired(error)) this.#pageSize = Math.min(pageSizeMax, this.#pageSize * 4);
  }

  async #pause(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const askedMs = ((error instanceof ApiError ? error.retryAfterSeconds : undefined) ?? 0) * 1000;
    // A watch that fell behind is ordinary: list again at once, the first time.
    const isOrdinary = isExpired(error) && this.#failures === 1;
    const backoff = this.#isAbsent ? absentBackoff : this.#backoff;
    const backoffMs = isOrdinary ? 0 : backoff.delayMs(this.#failures - 1, random);
    await clock.sleep(Math.max(askedMs, backoffMs), signal);
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired');
}

/** Whether a watch may go on where it was: the server is away or busy, and what we know is not in doubt. */
function canResume(error: unknown, failures: number): boolean {
  if (isExpired(error)) return false;
  if (isReason(error, 'ServiceUnavailable', 'TooManyRequests', 'ServerTimeout', 'Timeout')) return true;
  return failures < resumesMax;
}
