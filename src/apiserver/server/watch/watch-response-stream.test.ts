import { describe, expect, test } from 'vitest';
import { failure } from '../../../kube/api-error.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { persistentVolumeKind } from '../../kinds/core/volumes/persistent-volume.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { transientSnapshot } from '../../registry/context/snapshot-cache.ts';
import type { RegistryEvent } from '../../registry/registry.ts';
import type { StreamSink } from '../http/http-exchange.ts';
import { newMetrics } from '../metrics.ts';
import { objectShape } from '../responses/negotiation.ts';
import { FlushScheduler } from './flush-scheduler.ts';
import { WatchEncoder } from './watch-encoder.ts';
import { WatchBacklog, WatchResponseStream } from './watch-response-stream.ts';

const kind = persistentVolumeKind as unknown as ServedKind;
const minuteMs = 60_000;

describe('a watch on a connection', () => {
  test('writes the events of one tick as one chunk', async () => {
    const { backlog, sink, clock } = begun();
    backlog.events([added('a')]);
    backlog.events([added('b'), added('c')]);
    expect(sink.writes).toHaveLength(0);
    await clock.advance(1);
    expect(sink.writes).toHaveLength(1);
    expect(sink.names()).toEqual(['a', 'b', 'c']);
  });

  test('writes the initial events', async () => {
    const { sink, clock } = begun({ initial: [added('a'), added('b')] });
    await clock.advance(1);
    expect(sink.names()).toEqual(['a', 'b']);
  });

  test('passes a slow reader a bounded number of bytes, and continues when they are sent', async () => {
    const { backlog, sink, clock, stream } = begun();
    sink.isSlow = true;
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    backlog.events(names.map((name) => added(name, 100_000)));
    await clock.advance(1);
    expect(sink.unsentBytes).toBeLessThan(600_000);
    while (sink.names().length < names.length) {
      const before = sink.names().length;
      sink.take();
      stream.drained();
      await clock.advance(0);
      expect(sink.names().length).toBeGreaterThan(before);
    }
    expect(sink.names()).toEqual(names);
  });

  test('closes the watch of a reader that falls behind by eight megabytes', async () => {
    const { backlog, sink, clock, metrics } = begun();
    sink.isSlow = true;
    for (let count = 0; count < 100 && !sink.isCut; count += 1) {
      backlog.events([added(`n${count}`, 100_000)]);
      await clock.advance(1);
    }
    expect(sink.isCut).toBe(true);
    expect(metrics).toMatchObject({ watchesCut: 1, watchesOpen: 0 });
  });

  test('keeps a reader that is always slightly behind', () => {
    const backlog = new WatchBacklog();
    backlog.events([added('first', 100_000)]);
    backlog.opened({ onEvents() {}, onEnd() {}, onFailure() {} });
    for (let count = 0; count < 3_000; count += 1) {
      backlog.events([added(`n${count}`, 10_000)]);
      if (count >= 20) expect(backlog.shift()).toBeDefined();
      expect([backlog.isEmpty, backlog.isTooLong]).toEqual([false, false]);
    }
    for (let count = 0; count < 900; count += 1) backlog.events([added(`m${count}`, 10_000)]);
    expect(backlog.isTooLong).toBe(true);
  });

  test('does not limit the size of the initial events', async () => {
    const initial = Array.from({ length: 200 }, (_, index) => added(`n${index}`, 100_000));
    const { sink, clock, stream } = begun({ initial });
    sink.isSlow = true;
    await clock.advance(1);
    while (!sink.isCut && sink.names().length < initial.length) {
      sink.take();
      stream.drained();
      await clock.advance(0);
    }
    expect(sink.isCut).toBe(false);
    expect(sink.names()).toHaveLength(200);
  });

  test('encodes a bounded number of bytes in a turn, also for a reader that takes all of them', async () => {
    const initial = Array.from({ length: 100 }, (_, index) => added(`n${index}`, 100_000));
    const { sink, clock } = begun({ initial, timeoutMs: 60 * minuteMs });
    const seen: number[] = [];
    const look = () => {
      seen.push(sink.names().length);
      if (seen.length < 100) clock.after(0, look);
    };
    clock.after(0, look);
    await clock.advance(1);
    expect(seen.at(-1)).toBe(initial.length);
    const steps = seen.map((count, at) => count - (seen[at - 1] ?? 0));
    expect(Math.max(...steps)).toBeLessThan(15);
    // It was never waiting for the reader.
    await clock.advance(2 * minuteMs);
    expect(sink.isCut).toBe(false);
  });

  test('closes the watch of a reader that reads nothing for a minute', async () => {
    const { backlog, sink, clock } = begun({ timeoutMs: 60 * minuteMs });
    sink.isSlow = true;
    backlog.events(Array.from({ length: 10 }, (_, index) => added(`n${index}`, 100_000)));
    await clock.advance(minuteMs - 1);
    expect(sink.isCut).toBe(false);
    await clock.advance(2);
    expect(sink.isCut).toBe(true);
  });

  test('sends a bookmark once a minute and at its end', async () => {
    const { sink, clock, handle } = begun({ bookmarks: true, timeoutMs: 2.5 * minuteMs });
    await clock.advance(minuteMs + 1);
    handle.resourceVersion = '70';
    await clock.advance(minuteMs);
    handle.resourceVersion = '80';
    await clock.advance(minuteMs);
    expect(sink.lines().map(({ type, object }) => `${type} ${object.metadata.resourceVersion}`)).toEqual([
      'BOOKMARK 60',
      'BOOKMARK 70',
      'BOOKMARK 80',
    ]);
    expect(sink.isEnded).toBe(true);
  });

  test('without bookmarks ends without one', async () => {
    const { sink, clock } = begun({ timeoutMs: 90_000 });
    await clock.advance(90_001);
    expect(sink.lines()).toEqual([]);
    expect(sink.isEnded).toBe(true);
  });

  test('writes all queued events before it finishes', async () => {
    const { backlog, sink, stream, handle } = begun();
    backlog.events([added('a'), added('b')]);
    stream.finish();
    expect(sink.names()).toEqual(['a', 'b']);
    expect(sink.isEnded).toBe(true);
    expect(handle.isClosed).toBe(true);
  });

  test('releases everything when the connection is closed', async () => {
    const { stream, clock, handle, metrics, backlog, sink } = begun({ bookmarks: true });
    expect(metrics.watchesOpen).toBe(1);
    stream.closed();
    stream.closed();
    backlog.events([added('late')]);
    await clock.advance(1);
    expect(clock.pending).toBe(0);
    expect(handle.isClosed).toBe(true);
    expect(metrics.watchesOpen).toBe(0);
    expect(sink.writes).toHaveLength(0);
  });

  test('sends an error and ends if an event cannot be encoded', async () => {
    const row = () => {
      throw new Error('broken');
    };
    const shape = { kind: 'Table', version: 'v1' } as const;
    const encoder = new WatchEncoder({ ...kind, row }, { shape, include: 'None' });
    const { backlog, sink, clock, errors } = begun({ encoder });
    backlog.events([added('a'), added('b')]);
    await clock.advance(1);
    expect(sink.lines().map(({ type, object }) => ({ type, code: object.code }))).toEqual([
      { type: 'ERROR', code: 500 },
    ]);
    expect(sink.isEnded).toBe(true);
    expect(errors).toHaveLength(1);
  });
});

describe('a watch that failed', () => {
  test('writes the queued events, then the error, and ends without a bookmark', async () => {
    const { backlog, sink, errors } = begun({ bookmarks: true });
    backlog.events([added('a')]);
    backlog.failed(new Error('broken'));
    expect(sink.lines().map(({ type }) => type)).toEqual(['ADDED', 'ERROR']);
    expect(sink.isEnded).toBe(true);
    expect(errors).toEqual([new Error('broken')]);
  });

  test('before it was opened writes the error as well', () => {
    const backlog = new WatchBacklog();
    backlog.failed(new Error('broken'));
    const { sink } = begun({ backlog });
    expect(sink.lines().map(({ type }) => type)).toEqual(['ERROR']);
  });

  test('writes the error once, after a slow reader has received all events', async () => {
    const { clock, backlog, sink, stream } = begun();
    sink.isSlow = true;
    backlog.events(['a', 'b', 'c', 'd'].map((name) => added(name, 200_000)));
    backlog.failed(new Error('broken'));
    for (let round = 0; round < 4; round += 1) {
      sink.take();
      stream.drained();
      await clock.advance(0);
    }
    expect(sink.lines().map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'ADDED', 'ERROR']);
  });
});

describe('an event', () => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z');
  const plain = () => new WatchEncoder(kind, { shape: objectShape, include: 'Metadata' });
  const table = () => new WatchEncoder(kind, { shape: { kind: 'Table', version: 'v1' }, include: 'None' });

  test('is encoded once for all watchers of one format', () => {
    const event = added('a');
    expect(plain().encode(event, nowMs)).toBe(plain().encode(event, nowMs + 60_000));
  });

  test('has column definitions only in the first table of each watch', () => {
    const [first, second] = [table(), table()];
    const event = added('a');
    const columns = [first, first, second, second].map(
      (encoder) => linesOf(encoder.encode(event, nowMs))[0]?.object.columnDefinitions !== null,
    );
    expect(columns).toEqual([true, false, true, false]);
  });

  test('is encoded again with a new age later', () => {
    const encoder = table();
    const event = added('a');
    encoder.encode(event, nowMs);
    const ages = [nowMs, nowMs + 500, nowMs + 60_000].map((atMs) => encoder.encode(event, atMs));
    expect(ages[1]).toBe(ages[0]);
    expect(ages[2]).not.toBe(ages[0]);
  });

  test('that ends the initial events is marked in every format', () => {
    const event: RegistryEvent = { type: 'BOOKMARK', resourceVersion: '7', isInitialEnd: true };
    const metadata = { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } };
    expect(linesOf(plain().encode(event, nowMs))).toEqual([
      { type: 'BOOKMARK', object: { kind: 'PersistentVolume', apiVersion: 'v1', metadata } },
    ]);
    const row = { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata } };
    expect(linesOf(table().encode(event, nowMs))).toMatchObject([
      { type: 'BOOKMARK', object: { kind: 'Table', metadata: { resourceVersion: '7' }, rows: [row] } },
    ]);
  });
});

interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly columnDefinitions?: unknown;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

function linesOf(bytes: Uint8Array): Line[] {
  const text = Buffer.from(bytes).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** A connection whose client receives everything at once, or nothing until the test allows it. */
class TestSink implements StreamSink {
  readonly writes: Uint8Array[] = [];
  readonly #lines: Line[] = [];
  #readCount = 0;
  isSlow = false;
  isEnded = false;
  isCut = false;
  unsentBytes = 0;

  write(bytes: Uint8Array): void {
    this.writes.push(bytes);
    if (this.isSlow) this.unsentBytes += bytes.length;
  }

  take(): void {
    this.unsentBytes = 0;
  }

  end(): void {
    this.isEnded = true;
  }

  cut(): void {
    this.isCut = true;
  }

  /** Reads each write once: some tests ask after every write, and the writes are large. */
  lines(): readonly Line[] {
    for (const bytes of this.writes.slice(this.#readCount)) this.#lines.push(...linesOf(bytes));
    this.#readCount = this.writes.length;
    return this.#lines;
  }

  names(): (string | undefined)[] {
    return this.lines().map(({ object }) => object.metadata.name);
  }
}

interface Beginning {
  readonly initial?: readonly RegistryEvent[];
  readonly bookmarks?: boolean;
  readonly timeoutMs?: number;
  readonly encoder?: WatchEncoder;
  readonly backlog?: WatchBacklog;
}

function begun(beginning: Beginning = {}) {
  const { initial = [], bookmarks = false, timeoutMs = 30 * minuteMs, encoder } = beginning;
  const { backlog = new WatchBacklog() } = beginning;
  const [clock, sink, metrics] = [new VirtualClock(), new TestSink(), newMetrics()];
  const errors: unknown[] = [];
  const handle = {
    resourceVersion: '60',
    isClosed: false,
    close() {
      this.isClosed = true;
    },
  };
  backlog.events(initial);
  const stream = new WatchResponseStream({
    backlog,
    handle,
    encoder: encoder ?? new WatchEncoder(kind, { shape: objectShape, include: 'Metadata' }),
    sink,
    clock,
    flushScheduler: new FlushScheduler(clock),
    metrics,
    timeoutMs,
    bookmarks,
    onError: (error) => {
      errors.push(error);
      return failure(500, 'InternalError', 'a bug').status;
    },
  });
  return { backlog, sink, clock, stream, metrics, handle, errors };
}

function added(name: string, bytes = 0): RegistryEvent {
  const annotations = { padding: 'x'.repeat(bytes) };
  const metadata = { name, resourceVersion: '5', creationTimestamp: '2026-03-01T00:00:00Z', annotations };
  const object = { apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec: {}, status: {} };
  return { type: 'ADDED', snapshot: transientSnapshot(object as StoredObject) };
}
