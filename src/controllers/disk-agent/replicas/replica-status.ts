import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { type Replica, replicas } from '../../../kube/stowage/replica.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';

/** The status that the agent reports for a replica. */
export interface ReplicaReport {
  readonly currentState: 'stopped' | 'starting' | 'running' | 'error';
  /** Why it does not run. */
  readonly message?: string;
  /** Bytes of its file; left out, it stays as it was. */
  readonly size?: number;
  /** All data is there; false: it has failed; left out, both times stay as they were. */
  readonly isHealthy?: boolean;
  readonly transferTokenSHA256?: string;
}

const messageLengthMax = 4096;

/** Writes the status of the version that was read, unless it is the same already. */
export async function writeReplicaStatus(
  { cluster, clock }: Pick<ControllerContext, 'cluster' | 'clock'>,
  replica: Replica,
  report: ReplicaReport,
): Promise<Replica> {
  const { status = {}, metadata: { uid, resourceVersion, name = '' } = {} } = replica;
  const now = formatTimestamp(clock.nowMs());
  const next = {
    currentState: report.currentState,
    message: report.message?.slice(0, messageLengthMax),
    size: report.size ?? status.size,
    healthyAt: status.healthyAt ?? (report.isHealthy === true ? now : undefined),
    failedAt: failedAt(status.failedAt, report.isHealthy, now),
    transferTokenSHA256: report.transferTokenSHA256,
  };
  const keys = Object.keys(next) as (keyof typeof next)[];
  const changed = keys.filter((key) => status[key] !== next[key]);
  if (changed.length === 0) return replica;
  const body = {
    metadata: { uid, resourceVersion },
    status: Object.fromEntries(changed.map((key) => [key, next[key] ?? null])),
  };
  return await cluster.resource(replicas).patch({ name }, { type: 'merge', body }, { subresource: 'status' });
}

function failedAt(
  before: string | undefined,
  isHealthy: boolean | undefined,
  now: string,
): string | undefined {
  if (isHealthy === undefined) return before;
  return isHealthy ? undefined : (before ?? now);
}
