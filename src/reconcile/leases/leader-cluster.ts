import type { Cluster, ResourceClient } from '../../cluster/cluster.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { failure } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';

/** A write that started at the last moment of a term ends before another process can lead. */
const writeMsMax = 4_500;

/** The time for which this process leads. */
export interface LeaderTerm {
  /** Aborts when the term is over. */
  readonly signal: AbortSignal;
  /** At this very moment, even if the process was frozen before. */
  isLeading(): boolean;
}

export interface LeaderClusterOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** The current term; undefined before the first. */
  readonly term: () => LeaderTerm | undefined;
}

/** A leader's connection to its cluster: any process may read, but writes start, and continue, only while this process leads. */
export class LeaderCluster implements Cluster {
  readonly #options: LeaderClusterOptions;

  constructor(options: LeaderClusterOptions) {
    this.#options = options;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#options.cluster.resource(resource);
    return {
      resource,
      get: (key, options) => client.get(key, options),
      list: (options) => client.list(options),
      watch: (options) => client.watch(options),
      create: (object, options) => this.#write(options, (how) => client.create(object, how)),
      update: (object, options) => this.#write(options, (how) => client.update(object, how)),
      patch: (key, patch, options) => this.#write(options, (how) => client.patch(key, patch, how)),
      delete: (key, options) => this.#write(options, (how) => client.delete(key, how)),
      deleteCollection: (options) => this.#write(options, (how) => client.deleteCollection(how)),
      post: (key, subresource, body, options) =>
        this.#write(options, (how) => client.post(key, subresource, body, how)),
    };
  }

  async #write<O extends { readonly signal?: AbortSignal }, R>(
    options: O | undefined,
    send: (options: O & { readonly signal: AbortSignal }) => Promise<R>,
  ): Promise<R> {
    const { clock, term } = this.#options;
    options?.signal?.throwIfAborted();
    const now = term();
    if (now === undefined || now.signal.aborted || !now.isLeading()) throw notLeading();
    const scope = new AbortController();
    const stops = [onAbort(now.signal, () => scope.abort(notLeading()))];
    const own = options?.signal;
    if (own !== undefined) stops.push(onAbort(own, () => scope.abort(own.reason)));
    const timer = clock.after(writeMsMax, () => scope.abort(tooLate()));
    try {
      return await send({ ...(options ?? ({} as O)), signal: scope.signal });
    } finally {
      timer.cancel();
      for (const stop of stops) stop();
    }
  }
}

function notLeading() {
  return failure(503, 'ServiceUnavailable', 'this process is not the leader; the leader does this write');
}

function tooLate() {
  return failure(504, 'Timeout', `a write was not answered within ${writeMsMax / 1000} s`);
}
