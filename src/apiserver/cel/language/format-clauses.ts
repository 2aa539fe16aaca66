/** The letters that can follow a percent sign. */
export type ClauseLetter = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

export interface FormatClause {
  readonly letter: ClauseLetter;
  readonly digits: number;
  /** The index of the argument that it prints. */
  readonly index: number;
}

/** An error, and the node of the expression that it is about, if any. */
export interface FormatProblem {
  readonly problem: string;
  readonly id?: number;
}

export const defaultPrecision = 6;

/** The errors of clauses for arguments that they cannot print; the type follows. */
export const formatProblems: Readonly<Record<ClauseLetter, string>> = {
  s:
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and ' +
    'timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

/** Walks a format string and replaces each clause by what `print` returns. */
export function walkFormat(
  text: string,
  argCount: number,
  print: (clause: FormatClause) => string | FormatProblem,
): string | FormatProblem {
  const pieces: string[] = [];
  let position = 0;
  let index = 0;
  for (;;) {
    const percent = text.indexOf('%', position);
    if (percent < 0) return pieces.join('') + text.slice(position);
    pieces.push(text.slice(position, percent));
    if (text[percent + 1] === '%') {
      pieces.push('%');
      position = percent + 2;
      continue;
    }
    if (index >= argCount) return { problem: `index ${index} out of range` };
    const clause = readClause(text, percent);
    if ('problem' in clause) return clause;
    const printed = print({ letter: clause.letter, digits: clause.digits, index });
    if (typeof printed !== 'string')
      return { ...printed, problem: `error during formatting: ${printed.problem}` };
    pieces.push(printed);
    position = clause.end;
    index++;
  }
}

type Clause =
  | { readonly letter: ClauseLetter; readonly digits: number; readonly end: number }
  | { readonly problem: string };

const unparsable = 'could not parse formatting clause';

function readClause(text: string, percent: number): Clause {
  if (percent + 1 >= text.length) return { problem: 'unexpected end of string' };
  const [all = '', precision, letter] = /^%(?:\.(\d*))?(.)?/su.exec(text.slice(percent)) ?? [];
  if (letter === undefined) {
    return {
      problem: `${unparsable}: error while parsing precision: could not find end of precision specifier`,
    };
  }
  if (precision === '') {
    const detail = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax';
    return { problem: `${unparsable}: error while parsing precision: ${detail}` };
  }
  if (!isLetter(letter)) return { problem: `${unparsable}: unrecognized formatting clause "${letter}"` };
  const digits = precision === undefined ? defaultPrecision : Number(precision);
  return { letter, digits, end: percent + all.length };
}

function isLetter(letter: string): letter is ClauseLetter {
  return Object.hasOwn(formatProblems, letter);
}
