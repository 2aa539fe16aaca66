import type { CDPSession } from 'playwright-core';

/** A task that takes longer delays input and frames so much that a person notices; browsers use the same bound for long tasks. */
const longTaskMs = 50;

export interface MainThreadTasks {
  /** Processor time of the longest task. Time in which another process had the processor is not in it, so a busy machine gives the same. */
  readonly longestCpuMs: number;
  readonly overLimit: number;
  readonly sumCpuMs: number;
  /** Wall-clock time, with everything else that this machine does. */
  readonly longestWallMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds by the clock, and of the thread. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** What the page's main thread does while `act` runs, from Chromium's own trace. */
export async function tasksDuring(session: CDPSession, act: () => Promise<void>): Promise<MainThreadTasks> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => {
    events.push(...(value as TraceEvent[]));
  };
  session.on('Tracing.dataCollected', collect);
  const includedCategories = ['disabled-by-default-devtools.timeline', '__metadata'];
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories } });
  await act();
  const isComplete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await isComplete;
  session.off('Tracing.dataCollected', collect);
  return summary(events);
}

function summary(events: readonly TraceEvent[]): MainThreadTasks {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = events.filter((event) => event.name === 'RunTask' && threads.has(threadOf(event)));
  // Without a thread's time (a task during which the trace began), the clock's is an upper bound.
  const cpuMs = tasks.map(({ tdur, dur = 0 }) => (tdur ?? dur) / 1_000);
  return {
    longestCpuMs: Math.round(Math.max(0, ...cpuMs)),
    overLimit: cpuMs.filter((ms) => ms > longTaskMs).length,
    sumCpuMs: Math.round(cpuMs.reduce((sum, ms) => sum + ms, 0)),
    longestWallMs: Math.round(Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1_000))),
  };
}
