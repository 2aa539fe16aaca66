import { widthOf } from './style.ts';

export interface WrapOptions {
  /** Undefined for a single line of any length. */
  readonly width: number | undefined;
  /** Columns before the first line. */
  readonly indent?: number;
  /** Columns before the lines that follow, more than `indent`. */
  readonly hanging?: number;
}

/** Breaks text between words into lines of at most the width; a longer word stays whole. */
export function wrap(text: string, { width, indent = 0, hanging = 2 }: WrapOptions): readonly string[] {
  const first = ' '.repeat(indent);
  if (width === undefined) return [`${first}${text}`];
  const rest = ' '.repeat(indent + hanging);
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
