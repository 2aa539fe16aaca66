import type { IncomingRequest, OutgoingResponse } from '../apiserver/server/http/http-exchange.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Event } from '../kube/api/core.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Random } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import { fullRights } from './access/rights.ts';
import { Viewers, type ViewersOptions } from './access/viewers.ts';
import type { ConsoleAnswers } from './answers/console-answers.ts';
import { ConsoleHandler } from './http/console-handler.ts';
import type { EventStream } from './http/event-stream.ts';
import { capacitySample } from './state/capacity-sample.ts';
import { ClusterState } from './state/cluster-state.ts';
import { ConsoleFeed } from './state/console-feed.ts';
import { type ConsoleKind, consoleKinds, resourceOfKind } from './state/console-objects.ts';
import { CapacityHistory } from './state/history.ts';
import { viewOf } from './state/view-of.ts';
import type { ConsoleRecord, HistoryAnswer } from './wire/answers.ts';

/** Where the console's objects come from. */
export type ConsoleSource =
  | { readonly kind: 'cluster'; readonly cluster: Cluster }
  /** A state that was written to a file. */
  | {
      readonly kind: 'frozen';
      readonly objects: readonly (readonly [kind: ConsoleKind, object: KubeObject])[];
      readonly events: readonly Event[];
      readonly takenAtMs: number;
      /** The record of the console that took the snapshot. */
      readonly record?: ConsoleRecord | undefined;
    };

export interface ConsoleOptions {
  readonly source: ConsoleSource;
  readonly answers: ConsoleAnswers;
  readonly viewers: Pick<ViewersOptions, 'ownToken' | 'asViewer'>;
  /** Names of this server besides addresses and `localhost`. */
  readonly hosts: readonly string[];
  /** The cluster's name for the page. */
  readonly server: string;
  readonly version: string;
  readonly canWrite: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly onError: (error: unknown, where: string) => void;
}

/** Changes are collected for this time, so that pages get a few events each second and not one for each change. */
const flushDelayMs = 150;
/** Rows that are made at a time; the process has other work. */
const rowsPerSlice = 2_000;
/** Pools are recomputed at most this often, and never for more than 5 % of the time. */
const poolsIntervalMs = 1_000;
const poolsShare = 20;
/** Promises and reported capacity expire without any change of an object: the numbers on a page are never older than this. */
const capacityReportsMaxAgeMs = 10_000;
const sampleIntervalMs = 10_000;
const stopDeadlineMs = 1_000;

/**
 * The console of one cluster: follows the cluster, keeps the rows of the page, and answers its requests.
 *
 * 1. `start` returns immediately; requests are answered while the cluster is still being read, and `ready` resolves afterwards.
 * 2. `handle` answers every request below `/console`. Any server can call it.
 * 3. `close` ends streams and informers.
 */
export class Console {
  readonly ready: Promise<void>;
  readonly #options: ConsoleOptions;
  readonly #state: ClusterState;
  readonly #handler: ConsoleHandler;
  readonly #history = new CapacityHistory(sampleIntervalMs);
  readonly #streams = new Set<EventStream>();
  readonly #supervisor: Supervisor;
  readonly #stop = new AbortController();
  #flushTimer: Timer | undefined;
  #poolsDueMs = 0;
  #poolsMadeMs = Number.NEGATIVE_INFINITY;
  /** Rows are made once everything has been read: before, most of them would be made several times. */
  #isReading = true;

  private constructor(options: ConsoleOptions) {
    const { clock, random, ids, onError } = options;
    this.#options = options;
    this.#state = new ClusterState(ids.uid().slice(0, 8));
    this.#supervisor = new Supervisor({
      clock,
      random,
      onCrash: ({ name, error }) => onError(error, name),
      stopDeadlineMs,
    });
    const { source } = options;
    this.#handler = new ConsoleHandler({
      ...options,
      state: this.#state,
      history: () => this.#historyAnswer(),
      streams: this.#streams,
      viewers: new Viewers({
        ...options.viewers,
        clock,
        resources: consoleKinds.map(resourceOfKind),
        namespaces: () =>
          [...this.#state.snapshot.values('Namespace')].map(({ metadata }) => metadata?.name ?? ''),
      }),
      isReading: () => this.#isReading,
      refresh: () => this.#refresh(),
      cluster: source.kind === 'cluster' ? source.cluster : undefined,
      frozen: source.kind === 'frozen' ? source : undefined,
    });
    this.ready = source.kind === 'cluster' ? this.#follow(source.cluster) : this.#load(source);
  }

  static start(options: ConsoleOptions): Console {
    return new Console(options);
  }

  readonly handle = (request: IncomingRequest): Promise<OutgoingResponse> => this.#handler.handle(request);

  async close(): Promise<void> {
    this.#stop.abort();
    this.#flushTimer?.cancel();
    for (const stream of [...this.#streams]) stream.finish();
    await this.#supervisor.close();
  }

  async #follow(cluster: Cluster): Promise<void> {
    const { clock, random, onError } = this.#options;
    const feed = new ConsoleFeed({
      cluster,
      state: this.#state,
      clock,
      random,
      supervisor: this.#supervisor,
      onError: (error) => onError(error, 'console'),
      onChange: () => this.#flushSoon(),
    });
    await feed.start(this.#stop.signal);
    while (!this.#state.flush(rowsPerSlice)) await clock.sleep(0, this.#stop.signal);
    this.#isReading = false;
    this.#flush();
    this.#supervisor.start('console figures', (signal) => this.#refreshWhileWatched(signal));
    this.#supervisor.start('console history', (signal) => this.#sample(signal));
  }

  #historyAnswer(): HistoryAnswer {
    const { source } = this.#options;
    const note =
      source.kind === 'frozen' ? (source.record?.history.note ?? noRecordNote(source.record)) : undefined;
    return { ...this.#history.answer(), note };
  }

  async #load({ objects, takenAtMs, record }: Extract<ConsoleSource, { kind: 'frozen' }>): Promise<void> {
    for (const [kind, object] of objects) this.#state.upsert(kind, object);
    while (!this.#state.flush(rowsPerSlice)) await this.#options.clock.sleep(0, this.#stop.signal);
    this.#isReading = false;
    this.#updateCapacityReports(takenAtMs);
    if (record !== undefined) {
      this.#state.paths.restore(record.steps);
      this.#history.restore(record.history);
    }
    this.#history.add(takenAtMs, capacitySample(this.#state.rows));
  }

  async #sample(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#refresh();
      this.#history.add(clock.nowMs(), capacitySample(this.#state.rows));
      await clock.sleep(this.#history.intervalMs, signal);
    }
  }

  async #refreshWhileWatched(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(capacityReportsMaxAgeMs, signal);
      if (this.#streams.size > 0) this.#refresh();
    }
  }

  /** Nothing changes in a frozen state, not even the time. */
  #refresh(): void {
    if (this.#options.source.kind === 'frozen' || this.#isReading) return;
    if (this.#options.clock.monotonicMs() - this.#poolsMadeMs < capacityReportsMaxAgeMs) return;
    this.#state.markPools();
    this.#flush();
  }

  #flushSoon(delayMs = flushDelayMs): void {
    if (this.#isReading || this.#stop.signal.aborted) return;
    this.#flushTimer ??= this.#options.clock.after(delayMs, () => {
      this.#flushTimer = undefined;
      this.#flush();
    });
  }

  /** Never throws: it is called by timers. */
  #flush(): void {
    const { clock, onError } = this.#options;
    try {
      if (!this.#state.flush(rowsPerSlice)) this.#flushSoon(0);
      const waitMs = this.#poolsDueMs - clock.monotonicMs();
      if (waitMs <= 0) this.#updateCapacityReports(clock.nowMs());
      else this.#flushSoon(waitMs);
    } catch (error) {
      onError(error, 'console');
    }
    for (const stream of this.#streams) stream.send();
  }

  #updateCapacityReports(nowMs: number): void {
    const { answers, clock } = this.#options;
    const { rows, index } = this.#state;
    if (this.#state.takeDisksDirty()) replaceRows(rows, 'disk', answers.disks({ disks: this.#state.disks }));
    if (!this.#state.takePoolsDirty()) return;
    const startedMs = clock.monotonicMs();
    this.#poolsMadeMs = startedMs;
    index.settle(nowMs);
    const view = { ...viewOf(this.#state, { rights: fullRights, namespace: '', nowMs }), index };
    replaceRows(rows, 'pool', answers.pools(view));
    const tookMs = clock.monotonicMs() - startedMs;
    this.#poolsDueMs = clock.monotonicMs() + Math.max(poolsIntervalMs, poolsShare * tookMs);
  }
}

function noRecordNote(record: ConsoleRecord | undefined): string | undefined {
  return record === undefined
    ? 'These files have no capacity over time, only the moment at which they were taken. To include it, choose "Save a snapshot" on the overview of a running console.'
    : undefined;
}

function replaceRows<T extends 'pool' | 'disk'>(
  rows: ClusterState['rows'],
  type: T,
  all: readonly Parameters<typeof rows.set<T>>[1][],
): void {
  const kept = new Set(all.map(({ id }) => id));
  const gone = [...rows.values(type)].flatMap(({ row }) => (kept.has(row.id) ? [] : [row.id]));
  for (const id of gone) rows.delete(type, id);
  for (const row of all) rows.set(type, row);
}
