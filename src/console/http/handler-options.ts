import type { Cluster } from '../../cluster/cluster.ts';
import type { Event } from '../../kube/api/core.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Viewers } from '../access/viewers.ts';
import type { ConsoleAnswers } from '../answers/console-answers.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { HistoryAnswer } from '../wire/answers.ts';
import type { EventStream } from './event-stream.ts';

/** The sources of the responses. */
export interface ConsoleHandlerOptions {
  readonly state: ClusterState;
  readonly history: () => HistoryAnswer;
  readonly streams: Set<EventStream>;
  readonly viewers: Viewers;
  readonly answers: ConsoleAnswers;
  /** True until everything that existed at the start has been read. */
  readonly isReading: () => boolean;
  /** Recomputes numbers that depend on the time, such as promises that have expired, if they are old. */
  readonly refresh: () => void;
  /** Undefined for a frozen state. */
  readonly cluster: Cluster | undefined;
  readonly frozen: { readonly takenAtMs: number; readonly events: readonly Event[] } | undefined;
  readonly hosts: readonly string[];
  readonly server: string;
  readonly version: string;
  readonly canWrite: boolean;
  readonly clock: Clock;
  readonly onError: (error: unknown, where: string) => void;
}
