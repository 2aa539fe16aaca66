import type { HistogramMetric, Metrics } from '../runtime/metrics.ts';
import type { GrpcCode } from './grpc-codes.ts';

/** The buckets of csi-lib-utils, so that dashboards for CSI sidecars work. */
const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/** Before the name of the driver is known. */
export const unknownDriver = 'unknown-driver';

/** The duration of each call by driver, method and gRPC code, as CSI sidecars publish it. */
export class CallMetrics {
  readonly #seconds: HistogramMetric;

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram(
      'csi_sidecar_operations_seconds',
      'Duration of calls to CSI drivers, by their gRPC status code.',
      secondsBuckets,
      ['driver_name', 'method_name', 'grpc_status_code'],
    );
  }

  /** `method` is the path, such as `/csi.v1.Controller/CreateVolume`. */
  record(driver: string, method: string, code: GrpcCode, seconds: number): void {
    this.#seconds.observe(seconds, { driver_name: driver, method_name: method, grpc_status_code: code });
  }
}
