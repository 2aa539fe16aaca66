import { SelectorError } from './selector-error.ts';

/** One term of a field selector, such as `spec.nodeName!=n1`. */
export interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Parses `metadata.name=x,spec.nodeName!=n1`. A backslash escapes `,`, `=` and itself. */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => termOf(term, text));
}

function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === ',') {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function termOf(term: string, selector: string): FieldTerm {
  const [, field, operator, value] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
  if (field === undefined || value === undefined) {
    throw new SelectorError(`invalid selector: '${selector}'; can't understand '${term}'`);
  }
  return { field, isEqual: operator !== '!=', value: plainValue(value) };
}

function plainValue(value: string): string {
  let plain = '';
  for (let index = 0; index < value.length; index++) {
    const character = value[index] ?? '';
    if (character === ',' || character === '=') {
      throw new SelectorError(
        `invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`,
      );
    }
    if (character !== '\\') {
      plain += character;
      continue;
    }
    index += 1;
    const escaped = value[index];
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped ?? ''}`);
    }
    plain += escaped;
  }
  return plain;
}
