import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Progress } from './progress.ts';
import { terminalOf } from './terminal.ts';

/** Lines that stay come no more often than this: they are told of every object that is read. */
const intervalMs = 500;

/** On standard error; as lines that stay where `log` tells of requests too, as one that is overwritten would be torn by them. */
export function progressOf(log: Log): Pick<Progress, 'tell' | 'end'> {
  if (log.writes('debug')) return linesThatStay(log);
  return new Progress(terminalOf(process.stderr, process.env), realClock, (text) => {
    process.stderr.write(text);
  });
}

function linesThatStay(log: Log): Pick<Progress, 'tell' | 'end'> {
  let untold: string | undefined;
  let lastMs = realClock.monotonicMs();
  const flush = () => {
    if (untold !== undefined) log.debug(untold);
    untold = undefined;
    lastMs = realClock.monotonicMs();
  };
  return {
    tell(text) {
      untold = text;
      if (realClock.monotonicMs() - lastMs >= intervalMs) flush();
    },
    end: flush,
  };
}
