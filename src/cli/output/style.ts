import { printableText } from '../../runtime/printable-text.ts';
import type { Terminal } from './terminal.ts';

/** Styles of text. Each cleans its text; without colour, it does nothing else. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
}

export type Paint = (text: string) => string;

export function styleOf({ hasColour }: Pick<Terminal, 'hasColour'>): Style {
  return hasColour ? colourful : plain;
}

const plainPaint: Paint = printableText;
const plain: Style = {
  bold: plainPaint,
  dim: plainPaint,
  good: plainPaint,
  bad: plainPaint,
  warn: plainPaint,
};

/** The escape sequences that begin and end each style. */
const codes = { bold: [1, 22], dim: [2, 22], good: [32, 39], bad: [31, 39], warn: [33, 39] } as const;

const colourful: Style = {
  bold: ansi(codes.bold),
  dim: ansi(codes.dim),
  good: ansi(codes.good),
  bad: ansi(codes.bad),
  warn: ansi(codes.warn),
};

/** A painted value may be text of others, so it is cleaned, also of colours that it brings along. */
function ansi([on, off]: readonly [number, number]): Paint {
  return (text) => {
    if (text === '') return '';
    const painted = `${sequence(on)}${printableText(text)}${sequence(off)}`;
    notePainted(painted);
    return painted;
  };
}

function sequence(code: number): string {
  return `\u001b[${code}m`;
}

/**
 * The texts that this process has coloured, the newest last: a name from a server or a file may contain the same escape sequences, and nothing else tells them apart from ours.
 * Output is cleaned soon after it was coloured, so a bounded number is enough.
 */
const paintedTexts = new Set<string>();
const paintedTextsMax = 200_000;

function notePainted(text: string): void {
  paintedTexts.delete(text);
  paintedTexts.add(text);
  if (paintedTexts.size <= paintedTextsMax) return;
  const [oldest = ''] = paintedTexts;
  paintedTexts.delete(oldest);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequences = /\u001b\[\d+m/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const paintedPattern = /\u001b\[\d+m[^\u001b]*\u001b\[\d+m/g;

/** Messages may contain any text: they must neither leave their line nor control the terminal. Keeps the texts that this process has coloured. */
export function harmless(text: string): string {
  let clean = '';
  let end = 0;
  for (const { 0: found, index } of text.matchAll(paintedPattern)) {
    if (!paintedTexts.has(found)) continue;
    clean += printableText(text.slice(end, index)) + found;
    end = index + found.length;
  }
  return clean + printableText(text.slice(end));
}

/** The number of columns that a text takes; colours take none. */
export function widthOf(text: string): number {
  return text.replace(sequences, '').length;
}
