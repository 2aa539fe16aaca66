import { CsiError } from '../../csi/csi-errors.ts';
import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { TopologySegment } from './topology-segment.ts';

/** The driver's response for one class in one segment. */
export interface MeasuredCapacityReport {
  /** Taken before the driver was asked: every volume that existed then is in the capacity report. */
  readonly measuredAtMs: number;
  /** `available_capacity`. */
  readonly freeBytes: bigint;
  /** `maximum_volume_size`; undefined if the driver does not say. */
  readonly largestBytes: bigint | undefined;
  /** `minimum_volume_size`; undefined if the driver does not say. */
  readonly smallestBytes: bigint | undefined;
}

export interface MeasurementRequest {
  /** Undefined for inline volumes: they have no parameters. */
  readonly storageClass: StorageClass | undefined;
  /** Undefined: the request is empty, for drivers that serve inline volumes only. */
  readonly segment: TopologySegment | undefined;
}

export interface Measurement {
  readonly driver: ServedCsiDriver;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Asks the driver. The parameters are those of the class, with the reserved ones, as external-provisioner sends them. */
export async function measure(
  { driver, clock, timeoutMs }: Measurement,
  { storageClass, segment }: MeasurementRequest,
  signal: AbortSignal,
): Promise<MeasuredCapacityReport> {
  const measuredAtMs = Math.floor(clock.nowMs());
  const hasLabels = segment !== undefined && Object.keys(segment).length > 0;
  const request = {
    parameters: { ...storageClass?.parameters },
    ...(hasLabels ? { accessibleTopology: { segments: { ...segment } } } : {}),
  };
  const reply = await withDeadline(clock, { method: 'GetCapacity', timeoutMs }, signal, (deadline) =>
    driver.call('GetCapacity', request, { signal: deadline, timeoutMs }),
  );
  return {
    measuredAtMs,
    freeBytes: reply.availableCapacity,
    largestBytes: reply.maximumVolumeSize,
    smallestBytes: reply.minimumVolumeSize === 0n ? undefined : reply.minimumVolumeSize,
  };
}

/** The driver did not answer in time. */
class MeasurementTimeout extends Error {
  override readonly name = 'MeasurementTimeout';
}

/** A label for metrics. */
export function failureReason(error: unknown): string {
  if (error instanceof MeasurementTimeout) return 'DeadlineExceeded';
  if (!(error instanceof CsiError)) return 'Unknown';
  return 'code' in error ? String(error.code) : error.name;
}

/** A driver in this process has no deadlines of its own, and may hang for good. */
export async function withDeadline<T>(
  clock: Clock,
  { method, timeoutMs }: { readonly method: string; readonly timeoutMs: number },
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const abort = new AbortController();
  return await new Promise<T>((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      finish();
      reject(reason);
      abort.abort(reason);
    };
    const stopListening = onAbort(signal, () => giveUp(signal.reason));
    // The connection's own deadline is the same; its error says more, so it goes first.
    const timer = clock.after(timeoutMs + graceMs, () =>
      giveUp(new MeasurementTimeout(`${method}: the driver did not answer within ${timeoutMs / 1000} s`)),
    );
    const finish = () => {
      stopListening();
      timer.cancel();
    };
    call(abort.signal).then(resolve, reject).finally(finish);
  });
}

const graceMs = 1000;
