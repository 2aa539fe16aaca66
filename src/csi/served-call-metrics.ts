import type { HistogramMetric, Metrics } from '../runtime/metrics.ts';
import type { AnsweredCall } from './csi-server.ts';

/** Mounting and formatting take seconds, answers from a cache a millisecond. */
const secondsBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120];

/** The duration of each call that a driver of ours has answered, by method and gRPC code. */
export class ServedCallMetrics {
  readonly #seconds: HistogramMetric;

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram(
      'stowage_csi_served_seconds',
      'Duration of calls that the CSI driver for local drives has answered, by their gRPC status code.',
      secondsBuckets,
      ['method_name', 'grpc_status_code'],
    );
  }

  record({ method, code, seconds }: AnsweredCall): void {
    this.#seconds.observe(seconds, { method_name: method, grpc_status_code: code });
  }
}
