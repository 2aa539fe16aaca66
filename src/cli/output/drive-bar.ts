import type { DriveLine } from '../../queries/drives/drives-report.ts';
import type { Style } from './style.ts';
import type { Terminal } from './terminal.ts';

/** Draws used, promised and free bytes of a drive; undefined if the output is not a terminal. */
export type DriveBar = (line: Pick<DriveLine, 'capacityBytes' | 'usedBytes' | 'promisedBytes'>) => string;

const cells = 16;

const blocks = { used: '█', promised: '▒', free: '░', before: '', after: '' };
const ascii = { used: '#', promised: '+', free: '.', before: '[', after: ']' };

export function driveBarFor(terminal: Terminal, env: NodeJS.ProcessEnv, style: Style): DriveBar | undefined {
  if (!terminal.isInteractive) return undefined;
  const shapes = isUtf8Locale(env) ? blocks : ascii;
  return ({ capacityBytes, usedBytes, promisedBytes = 0 }) => {
    if (capacityBytes === undefined) return '';
    const taken = filledCells(usedBytes + promisedBytes, capacityBytes);
    // Any use is visible, so the promised part gives way.
    const used = Math.min(taken, filledCells(usedBytes, capacityBytes));
    const paint = taken === cells ? style.bad : taken > cells * 0.75 ? style.warn : style.good;
    return [
      shapes.before,
      paint(shapes.used.repeat(used)),
      style.warn(shapes.promised.repeat(taken - used)),
      shapes.free.repeat(cells - taken),
      shapes.after,
    ].join('');
  };
}

/** Any use is visible, and only full use looks full. */
function filledCells(taken: number, whole: number): number {
  if (taken <= 0) return 0;
  if (taken >= whole) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((taken / whole) * cells)));
}

/** The first variable that is set decides, as in the C library. */
function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}
