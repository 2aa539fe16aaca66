import type { KubeObject } from '../kube/api/meta.ts';
import { ApiError } from '../kube/api-error.ts';
import type { WatchEvent, WatchOptions } from '../kube/api-requests.ts';
import { qualifiedPlural, type Resource } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import type { CounterMetric, HistogramMetric, Metrics } from '../runtime/metrics.ts';
import type { Cluster, ResourceClient } from './cluster.ts';

/** From a tenth of a millisecond, as in process, to the half minute after which a request times out. */
const secondsBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30];

export interface MeteredClusterOptions {
  readonly cluster: Cluster;
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** The same cluster; every call is counted by verb, resource and outcome, and timed. */
export class MeteredCluster implements Cluster {
  readonly #cluster: Cluster;
  readonly #meter: Meter;

  constructor({ cluster, metrics, clock }: MeteredClusterOptions) {
    this.#cluster = cluster;
    const requests = metrics.counter(
      'stowage_api_requests_total',
      'API calls by verb, resource and status code; `aborted` if the client aborted the call, `error` if there was no response.',
      ['verb', 'resource', 'code'],
    );
    const seconds = metrics.histogram(
      'stowage_api_request_seconds',
      'Duration of API calls by verb, without watches.',
      secondsBuckets,
      ['verb'],
    );
    this.#meter = { requests, seconds, clock };
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    return meteredClient(this.#cluster.resource(resource), this.#meter);
  }
}

interface Meter {
  readonly requests: CounterMetric;
  readonly seconds: HistogramMetric;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

function meteredClient<T extends KubeObject>(client: ResourceClient<T>, meter: Meter): ResourceClient<T> {
  const { resource } = client;
  const name = qualifiedPlural(resource);
  const timed = async <R>(verb: string, call: () => Promise<R>, part?: string): Promise<R> => {
    const labels = { verb, resource: part === undefined ? name : `${name}/${part}` };
    const startMs = meter.clock.monotonicMs();
    let code = verb === 'create' ? '201' : '200';
    try {
      return await call();
    } catch (error) {
      code = codeOf(error);
      throw error;
    } finally {
      meter.requests.add({ ...labels, code });
      meter.seconds.observe((meter.clock.monotonicMs() - startMs) / 1000, { verb });
    }
  };
  return {
    resource,
    get: (key, options) => timed('get', () => client.get(key, options), options?.subresource),
    list: (options) => timed('list', () => client.list(options)),
    watch: (options) =>
      new MeteredWatch(client, options, (code) => {
        meter.requests.add({ verb: 'watch', resource: name, code });
      }),
    create: (object, options) => timed('create', () => client.create(object, options)),
    update: (object, options) => timed('update', () => client.update(object, options), options?.subresource),
    patch: (key, patch, options) =>
      timed('patch', () => client.patch(key, patch, options), options?.subresource),
    delete: (key, options) => timed('delete', () => client.delete(key, options)),
    deleteCollection: (options) => timed('deletecollection', () => client.deleteCollection(options)),
    post: (key, part, body, options) => timed('create', () => client.post(key, part, body, options), part),
  };
}

/** Counted once, when it is known whether it could start: at its first event, its end or its failure. */
class MeteredWatch<T extends KubeObject> implements AsyncIterable<WatchEvent<T>> {
  readonly #watch: AsyncIterable<WatchEvent<T>>;
  readonly #options: WatchOptions;
  readonly #count: (code: string) => void;

  constructor(client: ResourceClient<T>, options: WatchOptions, count: (code: string) => void) {
    this.#watch = client.watch(options);
    this.#options = options;
    this.#count = count;
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>> {
    const events = this.#watch[Symbol.asyncIterator]();
    let isCounted = false;
    const first = async () => {
      isCounted = true;
      try {
        const result = await events.next();
        this.#count(result.done && this.#options.signal.aborted ? 'aborted' : '200');
        return result;
      } catch (error) {
        this.#count(codeOf(error));
        throw error;
      }
    };
    return {
      next: () => (isCounted ? events.next() : first()),
      return: async (value) => (await events.return?.(value)) ?? { done: true, value },
    };
  }
}

function codeOf(error: unknown): string {
  if (error instanceof ApiError) return String(error.code);
  return error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'error';
}
