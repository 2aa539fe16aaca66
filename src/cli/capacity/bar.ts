import type { Style } from '../output/style.ts';
import type { Terminal } from '../output/terminal.ts';

/** Draws the used part of a whole as a bar; undefined if the output is not a terminal. */
export type Bar = (taken: bigint, whole: bigint) => string;

const cells = 12;

const blocks = { taken: '█', free: '░', before: '', after: '' };
const ascii = { taken: '#', free: '.', before: '[', after: ']' };

export function barFor(terminal: Terminal, env: NodeJS.ProcessEnv, style: Style): Bar | undefined {
  if (!terminal.isInteractive) return undefined;
  const { taken: full, free: empty, before, after } = isUtf8(env) ? blocks : ascii;
  return (taken, whole) => {
    const filled = filledCells(Number(taken), Number(whole));
    const paint = filled === cells ? style.bad : filled > cells * 0.75 ? style.warn : style.good;
    return `${before}${paint(full.repeat(filled))}${empty.repeat(cells - filled)}${after}`;
  };
}

/** Any use is visible, and only full use looks full. */
function filledCells(taken: number, whole: number): number {
  if (taken <= 0 && whole > 0) return 0;
  if (taken >= whole) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((taken / whole) * cells)));
}

/** The first variable that is set decides, as in the C library. */
function isUtf8({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}
