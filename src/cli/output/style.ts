import type { Terminal } from './terminal.ts';

/** How words are set apart; each leaves its text as it is where there is no colour. */
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

const plainPaint: Paint = (text) => text;
const plain: Style = {
  bold: plainPaint,
  dim: plainPaint,
  good: plainPaint,
  bad: plainPaint,
  warn: plainPaint,
};

const colourful: Style = {
  bold: ansi(1, 22),
  dim: ansi(2, 22),
  good: ansi(32, 39),
  bad: ansi(31, 39),
  warn: ansi(33, 39),
};

function ansi(on: number, off: number): Paint {
  return (text) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequences = /\u001b\[\d+m/g;

/** How many columns a text takes; colour takes none. */
export function widthOf(text: string): number {
  return text.replace(sequences, '').length;
}
