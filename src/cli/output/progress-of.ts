import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Progress } from './progress.ts';
import { terminalOf } from './terminal.ts';

/** The least time between two progress lines in a log; every object that is read triggers an update. */
const intervalMs = 500;

/** Progress on standard error. With `--verbose` it is written as separate lines, because log lines would break an overwritten one. */
export function progressOf(log: Log): Pick<Progress, 'tell' | 'end'> {
  if (log.writes('debug')) return linesThatStay(log);
  return new Progress(terminalOf(process.stderr, process.env), realClock, (text) => {
    process.stderr.write(text);
  });
}

function linesThatStay(log: Log): Pick<Progress, 'tell' | 'end'> {
  let pending: string | undefined;
  let lastMs = realClock.monotonicMs();
  const flush = () => {
    if (pending !== undefined) log.debug(pending);
    pending = undefined;
    lastMs = realClock.monotonicMs();
  };
  return {
    tell(text) {
      pending = text;
      if (realClock.monotonicMs() - lastMs >= intervalMs) flush();
    },
    end: flush,
  };
}
