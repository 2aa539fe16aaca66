import type { Cluster } from '../../cluster/cluster.ts';
import type { DrainFacts } from '../../queries/drain/drain-facts.ts';
import type { LeftLine, NodeCommand } from '../../queries/drain/drain-report.ts';
import type { CopyJob } from '../../queries/drain/drive-moves.ts';
import type { Clock } from '../../runtime/clock.ts';

/** The context that the parts of a move share. */
export interface MoveContext {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** A monotonic time. The move stops waiting then, and a later call continues. */
  readonly deadlineMs: number;
  /** Reads the cluster again. */
  readonly load: () => Promise<DrainFacts>;
  /** Copies volumes of drives of this machine; undefined if another machine, or another user, has to do that. */
  readonly copier: DriveCopier | undefined;
  /** A change that is stored now. */
  readonly onChange: (text: string) => void;
  /** Called with the event that the move waits for. */
  readonly onProgress: (text: string) => void;
}

export interface DriveCopier {
  /** Copies, compares, moves the entries, and removes the data. May end anywhere; called again, it goes on. */
  copy(job: CopyJob, onProgress: (text: string) => void): Promise<void>;
}

export interface MoveOutcome {
  /** The objects that Stowage cannot move. */
  readonly left: readonly LeftLine[];
  /** The events that had not happened before the deadline. */
  readonly waiting: readonly string[];
  /** The commands to run on a node before another call can continue. */
  readonly commands: readonly NodeCommand[];
}

export function isLate({ clock, deadlineMs }: Pick<MoveContext, 'clock' | 'deadlineMs'>): boolean {
  return clock.monotonicMs() >= deadlineMs;
}

/** Waits so long, but not longer than the deadline. */
export async function pause(
  { clock, deadlineMs }: Pick<MoveContext, 'clock' | 'deadlineMs'>,
  ms: number,
): Promise<void> {
  const rest = Math.max(0, Math.min(ms, deadlineMs - clock.monotonicMs()));
  await clock.sleep(rest, new AbortController().signal);
}
