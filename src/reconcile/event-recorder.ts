import { createHash } from 'node:crypto';
import type { ResourceClient } from '../cluster/cluster.ts';
import type { EventType, ObjectReference } from '../kube/api/core.ts';
import type { Event } from '../kube/api/events.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { ApiError, isReason } from '../kube/api-error.ts';
import { formatMicroTime } from '../kube/go/timestamp.ts';
import { BoundedQueue } from '../runtime/bounded-queue.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Random } from '../runtime/random.ts';
import type { BackgroundWork, Supervisor } from '../runtime/supervisor.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';

/** A repeated event within this time counts as the same event. */
const seriesWindowMs = 10 * 60_000;
/** The maximum of remembered events and objects; the least recently used one is forgotten first. */
const rememberedMax = 4096;
/** Each object may write a burst of this many events, then one every five minutes, as in client-go. */
const spamLimit = { burst: 25, tokensPerSecond: 1 / 300 };
const queueDepthMaxDefault = 20_000;
/** A burst of events must not depend on one write at a time; but few writers, so that events do not displace the work they report on. */
const writersMax = 8;
const attemptsMax = 12;
const retryMs = 10_000;
const flushDeadlineMsDefault = 5_000;
/** Limits of the API server, in bytes of UTF-8. */
const noteBytesMax = 1024;
const wordBytesMax = 128;
const nameLengthMax = 253;
/** Names contain the time in nanoseconds, of which we only know the milliseconds. */
const namesPerMs = 1_000_000;

export interface EventRecorderOptions {
  readonly events: ResourceClient<Event>;
  /** For example `stowage.dev/scheduler`. */
  readonly reportingController: string;
  /** For example the name of the pod. */
  readonly reportingInstance: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly supervisor: Supervisor;
  /** Receives events that could not be recorded. Must neither throw nor wait. */
  readonly onError?: (error: unknown) => void;
  readonly queueDepthMax?: number;
  readonly flushDeadlineMs?: number;
}

export interface EventInput {
  /** The object that the event is about; see `referenceTo`. */
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: EventType;
  /** The cause, as one word in UpperCamelCase. */
  readonly reason: string;
  /** The action that was taken or tried, as one word in UpperCamelCase. */
  readonly action: string;
  /** Human-readable text. */
  readonly note: string;
  /** The component that reports it; the recorder's own by default. */
  readonly reportingController?: string;
  /** Identifies what happened. It determines the name of the Event, so that several processes, or one after a restart, write one Event about it. */
  readonly occurrence?: string;
}

export interface EventRecorderMetrics {
  readonly recorded: number;
  /** Events held back because the object had too many. */
  readonly suppressed: number;
  /** Events that were not recorded: the queue was full, the server rejected them, or it was unavailable for too long. */
  readonly dropped: number;
}

/**
 * Records Kubernetes Events. `record` never waits and never throws, so that decisions do not depend on whether events can be written.
 * A repeated event becomes a count on the first one. `close` writes what is left, for a limited time;
 * call it before the supervisor's `close`.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #queue: BoundedQueue<Series>;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, TokenBucket>();
  readonly #work: BackgroundWork;
  #nameCounter: number;
  #recorded = 0;
  #suppressed = 0;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    // Another recorder may report on the same object in the same millisecond, and must get other names.
    this.#nameCounter = options.random.int(namesPerMs);
    this.#queue = new BoundedQueue(options.queueDepthMax ?? queueDepthMaxDefault);
    const name = `events of ${options.reportingController} ${options.reportingInstance}`;
    this.#work = options.supervisor.start(name, (signal) => this.#writeAll(signal));
  }

  record(input: EventInput): void {
    try {
      this.#record(input);
    } catch (error) {
      this.#dropped += 1;
      this.#options.onError?.(error);
    }
  }

  /** Writes pending events until the deadline. Events recorded later are dropped. */
  async close(): Promise<void> {
    const { clock, flushDeadlineMs = flushDeadlineMsDefault } = this.#options;
    for (const series of this.#series.values())
      if (series.isWritten && isBehind(series)) this.#enqueue(series);
    this.#queue.close();
    const waiting = new AbortController();
    await Promise.race([this.#work.ended, clock.sleep(flushDeadlineMs, waiting.signal)]);
    waiting.abort();
    await this.#work.stop();
  }

  metrics(): EventRecorderMetrics {
    return { recorded: this.#recorded, suppressed: this.#suppressed, dropped: this.#dropped };
  }

  #record(input: EventInput): void {
    const nowMs = this.#options.clock.nowMs();
    const key = seriesKey(input);
    const known = this.#series.get(key);
    const isRepeated = known !== undefined && nowMs - known.lastMs < seriesWindowMs;
    const series = isRepeated ? known : this.#begin(input, nowMs);
    if (isRepeated) {
      series.count += 1;
      series.lastMs = nowMs;
    }
    remember(this.#series, key, series);
    if (this.#mayWrite(input.regarding)) this.#enqueue(series);
    else this.#suppressed += 1;
  }

  #begin(input: EventInput, nowMs: number): Series {
    this.#nameCounter = (this.#nameCounter + 1) % namesPerMs;
    const unixNano = BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(this.#nameCounter);
    const suffix = occurrenceHash(input) ?? unixNano.toString(16);
    const event = eventOf(input, this.#options, { suffix, nowMs });
    return {
      event,
      count: 1,
      writtenCount: 0,
      lastMs: nowMs,
      isWritten: false,
      isQueued: false,
      isBeingWritten: false,
    };
  }

  #mayWrite(regarding: ObjectReference): boolean {
    const { clock } = this.#options;
    const key = JSON.stringify([regarding.kind, regarding.namespace, regarding.name, regarding.uid]);
    const budget = this.#budgets.get(key) ?? new TokenBucket(spamLimit, clock.monotonicMs());
    remember(this.#budgets, key, budget);
    return budget.tryTake(clock.monotonicMs());
  }

  #enqueue(series: Series): void {
    if (series.isQueued) return;
    series.isQueued = series.isBeingWritten || this.#queue.push(series);
    if (!series.isQueued) this.#dropped += 1;
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: writersMax }, () => this.#writeNext(signal)));
  }

  async #writeNext(signal: AbortSignal): Promise<void> {
    for (;;) {
      const series = await this.#queue.pop(signal);
      if (series === undefined) return;
      await this.#writeAlone(series, signal);
    }
  }

  /** Occurrences that arrive while a series is being written are written by the same writer afterwards. */
  async #writeAlone(series: Series, signal: AbortSignal): Promise<void> {
    series.isBeingWritten = true;
    try {
      while (series.isQueued) {
        series.isQueued = false;
        await this.#write(series, signal);
      }
    } finally {
      series.isBeingWritten = false;
    }
  }

  async #write(series: Series, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await this.#writeOnce(series, signal);
        this.#recorded += 1;
        return;
      } catch (error) {
        if (signal.aborted) break;
        if (!isWorthRetrying(error) || attempt === attemptsMax) {
          this.#options.onError?.(error);
          break;
        }
      }
      await this.#options.clock.sleep(retryMs * (1 + this.#options.random.next() / 4), signal);
    }
    this.#dropped += 1;
  }

  async #writeOnce(series: Series, signal: AbortSignal): Promise<void> {
    const { count } = series;
    const body = count > 1 ? { series: { count, lastObservedTime: formatMicroTime(series.lastMs) } } : {};
    if (!series.isWritten) series.isWritten = await this.#create({ ...series.event, ...body }, signal);
    else {
      const isPatched = await this.#patch(series, { type: 'merge', body }, signal);
      if (!isPatched) await this.#create({ ...series.event, ...body }, signal);
    }
    series.writtenCount = count;
  }

  /** An earlier attempt may have succeeded although its answer was lost, or another process has reported the same occurrence. */
  async #create(event: Event, signal: AbortSignal): Promise<true> {
    try {
      await this.#options.events.create(event, { signal });
    } catch (error) {
      if (!isReason(error, 'AlreadyExists')) throw error;
    }
    return true;
  }

  /** False if the event has expired meanwhile. */
  async #patch(
    { event }: Series,
    patch: { readonly type: 'merge'; readonly body: object },
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      const { name = '', namespace } = event.metadata ?? {};
      await this.#options.events.patch({ name, namespace }, patch, { signal });
      return true;
    } catch (error) {
      if (isReason(error, 'NotFound')) return false;
      throw error;
    }
  }
}

/** A reference to an object, for `regarding`. Objects from lists do not carry their kind, so the caller gives it. */
export function referenceTo(object: KubeObject, type: { apiVersion: string; kind: string }): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
  return {
    apiVersion: object.apiVersion ?? type.apiVersion,
    kind: object.kind ?? type.kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

interface Series {
  readonly event: Event;
  count: number;
  /** The count that the server has. */
  writtenCount: number;
  lastMs: number;
  isWritten: boolean;
  isQueued: boolean;
  isBeingWritten: boolean;
}

function isBehind({ count, writtenCount }: Series): boolean {
  return count > writtenCount;
}

/** Without the resourceVersion: the same event about a newer version of the object is the same event. */
function seriesKey({ regarding, related, type, reason, action, note }: EventInput): string {
  const { kind, namespace, name, uid, fieldPath } = regarding;
  return JSON.stringify([kind, namespace, name, uid, fieldPath, related?.uid, type, reason, action, note]);
}

function eventOf(
  input: EventInput,
  options: EventRecorderOptions,
  { suffix, nowMs }: { readonly suffix: string; readonly nowMs: number },
): Event {
  const { regarding, related } = input;
  const name = `${regarding.name ?? ''}.${suffix}`;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      name: isSubdomain(name) ? name : options.ids.uid(),
      namespace: regarding.namespace || 'default',
    },
    eventTime: formatMicroTime(nowMs),
    reportingController: input.reportingController ?? options.reportingController,
    reportingInstance: truncated(options.reportingInstance, wordBytesMax),
    action: truncated(input.action, wordBytesMax),
    reason: truncated(input.reason, wordBytesMax),
    regarding,
    ...(related === undefined ? {} : { related }),
    note: truncated(input.note, noteBytesMax),
    type: input.type,
  };
}

/** As long as a time in nanoseconds. */
function occurrenceHash({ occurrence, regarding: { kind, uid } }: EventInput): string | undefined {
  if (occurrence === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([occurrence, kind, uid]))
    .digest('hex')
    .slice(0, 16);
}

function isSubdomain(name: string): boolean {
  const part = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  return name.length <= nameLengthMax && new RegExp(`^${part}(\\.${part})*$`).test(name);
}

/** At most so many bytes of UTF-8, without a partial character at the end. */
function truncated(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const ellipsis = '...';
  let end = bytesMax - ellipsis.length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + ellipsis;
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 429 || error.code >= 500);
}

/** Moves an entry to the end, and removes the first one if there are too many. */
function remember<V>(entries: Map<string, V>, key: string, value: V): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= rememberedMax) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
