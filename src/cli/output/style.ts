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

/** What begins each, and what ends it. */
const codes = { bold: [1, 22], dim: [2, 22], good: [32, 39], bad: [31, 39], warn: [33, 39] } as const;

const colourful: Style = {
  bold: ansi(codes.bold),
  dim: ansi(codes.dim),
  good: ansi(codes.good),
  bad: ansi(codes.bad),
  warn: ansi(codes.warn),
};

function ansi([on, off]: readonly [number, number]): Paint {
  return (text) => (text === '' ? '' : `${sequence(on)}${text}${sequence(off)}`);
}

function sequence(code: number): string {
  return `\u001b[${code}m`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const sequences = /\u001b\[\d+m/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const controls = /\u001b\[\d+m|[\u0000-\u001f\u007f-\u009f]/g;
const ours: ReadonlySet<string> = new Set(Object.values(codes).flat().map(sequence));

/** Messages are anybody's text: on a terminal they may neither break out of their line nor command it. Our own colours stay. */
export function harmless(text: string): string {
  return text.replace(controls, (found) => (ours.has(found) ? found : ' '));
}

/** How many columns a text takes; colour takes none. */
export function widthOf(text: string): number {
  return text.replace(sequences, '').length;
}
