import { parseServerJson } from '../../apiserver/schema/json-reader.ts';
import type { KubeObject, Status } from '../../kube/api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { WatchEvent } from '../../kube/api-requests.ts';
import { isRecord } from '../../kube/wire.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import { clientError } from './failures.ts';
import type { OpenStream } from './requester.ts';

/** Ten times etcd's limit for an object. */
const lineBytesMax = 16 * 1024 * 1024;
const newline = 0x0a;
const initialEndAnnotation = 'k8s.io/initial-events-end';

export interface WatchStreamOptions {
  readonly clock: Clock;
  /** A stream that is silent for so long is broken. Undefined: it may be silent. */
  readonly silenceMsMax: number | undefined;
  /** The server should have ended the stream after this time. */
  readonly durationMsMax: number | undefined;
}

/**
 * The events of a watch: one JSON text per line, however the lines are split into chunks. Returns when the server ends the stream
 * regularly; throws when it sends an ERROR, a line that is not an event, or nothing for too long.
 */
export async function* readWatchStream<T extends KubeObject>(
  stream: OpenStream,
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>> {
  const guard = new SilenceGuard(stream, options);
  const lines = new LineSplitter();
  try {
    for await (const chunk of stream.chunks) {
      guard.noteActivity();
      lines.add(chunk);
      for (let line = lines.next(); line !== undefined; line = lines.next()) {
        if (line.length > 0) yield parseEvent<T>(line);
        // The consumer of the event may take its time; that is not silence of the server.
        guard.noteActivity();
      }
    }
    if (lines.hasRest) throw malformed('the stream ended in the middle of a line');
  } finally {
    guard.end();
    stream.abort(new Error('the watch is over'));
  }
}

function parseEvent<T extends KubeObject>(line: Buffer): WatchEvent<T> {
  const event = parseLine(line);
  if (!isRecord(event) || !isRecord(event.object)) throw malformed('a line is not an event');
  const object = event.object as T;
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object };
    case 'BOOKMARK': {
      const { resourceVersion, annotations } = object.metadata ?? {};
      if (resourceVersion === undefined) throw malformed('a bookmark has no resourceVersion');
      const isInitialEnd = annotations?.[initialEndAnnotation] === 'true';
      return { type: 'BOOKMARK', resourceVersion, isInitialEnd };
    }
    case 'ERROR':
      throw failureOf(object);
    default:
      throw malformed(`unknown event type ${JSON.stringify(event.type)}`);
  }
}

function parseLine(line: Buffer): unknown {
  try {
    return parseServerJson(line.toString('utf8'));
  } catch {
    throw malformed('a line is not JSON');
  }
}

function failureOf(object: KubeObject): ApiError {
  if (object.kind === 'Status') return new ApiError(object as Status);
  return clientError(500, 'InternalError', 'the watch ended with an error without details');
}

function malformed(what: string): ApiError {
  return clientError(500, 'InternalError', `the watch stream is malformed: ${what}`);
}

/** Splits bytes into lines. The rest of a chunk is copied once, when its line is complete. */
class LineSplitter {
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;
  #rest: Buffer[] = [];
  #restBytes = 0;

  get hasRest(): boolean {
    return this.#restBytes > 0;
  }

  /** Only after `next` has returned undefined. */
  add(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#start = 0;
  }

  next(): Buffer | undefined {
    const end = this.#chunk.indexOf(newline, this.#start);
    if (end < 0) {
      this.#keepRest();
      return undefined;
    }
    const tail = this.#chunk.subarray(this.#start, end);
    this.#start = end + 1;
    if (this.#restBytes === 0) return tail;
    const line = Buffer.concat([...this.#rest, tail]);
    this.#rest = [];
    this.#restBytes = 0;
    return line;
  }

  #keepRest(): void {
    const rest = this.#chunk.subarray(this.#start);
    this.#start = this.#chunk.length;
    if (rest.length === 0) return;
    this.#rest.push(rest);
    this.#restBytes += rest.length;
    if (this.#restBytes > lineBytesMax) throw malformed(`a line is longer than ${lineBytesMax} bytes`);
  }
}

/** Ends a stream that has been silent for too long, or that should be over. One timer for any number of events. */
class SilenceGuard {
  readonly #stream: OpenStream;
  readonly #options: WatchStreamOptions;
  readonly #startedMs: number;
  #heardMs: number;
  #timer: Timer | undefined;

  constructor(stream: OpenStream, options: WatchStreamOptions) {
    this.#stream = stream;
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#heardMs = this.#startedMs;
    this.#check();
  }

  noteActivity(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
  }

  end(): void {
    this.#timer?.cancel();
  }

  #check(): void {
    const {
      clock,
      silenceMsMax = Number.POSITIVE_INFINITY,
      durationMsMax = Number.POSITIVE_INFINITY,
    } = this.#options;
    const nowMs = clock.monotonicMs();
    const silentMs = nowMs - this.#heardMs;
    const leftMs = Math.min(silenceMsMax - silentMs, durationMsMax - (nowMs - this.#startedMs));
    if (leftMs <= 0) {
      const seconds = Math.round(silentMs / 1000);
      const message = `the watch was silent for ${seconds} s; the connection is probably broken`;
      this.#stream.abort(clientError(504, 'Timeout', message));
    } else if (Number.isFinite(leftMs)) this.#timer = clock.after(leftMs, () => this.#check());
  }
}
