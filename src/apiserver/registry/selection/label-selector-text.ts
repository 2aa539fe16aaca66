import { parseInt64 } from '../../../kube/selectors/int64.ts';
import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import type { Requirement, RequirementOperator } from '../../../kube/selectors/requirement.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../validation/names.ts';
import { SelectorError } from './selector-error.ts';

/** Parses `app=web,tier notin (cache,db),!canary`; throws Kubernetes' error messages. */
export function parseLabelSelector(text: string): CompiledLabelSelector {
  return { requirements: new LabelSelectorParser(tokensOf(text)).requirements() };
}

type TokenType = 'identifier' | 'in' | 'notin' | 'error' | 'end' | Symbol;
type Symbol = '!' | '!=' | '=' | '==' | '>' | '<' | '(' | ')' | ',';

interface Token {
  readonly type: TokenType;
  readonly text: string;
}

const symbols: ReadonlySet<string> = new Set(['!', '!=', '=', '==', '>', '<', '(', ')', ',']);
const end: Token = { type: 'end', text: '' };

function isSymbol(text: string): text is Symbol {
  return symbols.has(text);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [found] of text.matchAll(/[=!(),<>]+|[^\s=!(),<>]+/g)) {
    if (/[=!(),<>]/.test(found[0] ?? '')) for (const symbol of symbolsOf(found)) tokens.push(symbol);
    else tokens.push({ type: found === 'in' || found === 'notin' ? found : 'identifier', text: found });
  }
  return [...tokens, end];
}

/** Splits a run of special characters into the longest symbols from the left. */
function symbolsOf(run: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let start = 0; start < run.length; ) {
    const two = run.slice(start, start + 2);
    const symbol = isSymbol(two) ? two : run.slice(start, start + 1);
    if (isSymbol(symbol)) tokens.push({ type: symbol, text: symbol });
    start += symbol.length;
  }
  return tokens;
}

class LabelSelectorParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly Requirement[] {
    const found: Requirement[] = [];
    for (;;) {
      const next = this.#peekValue();
      if (next.type === 'end') return found;
      if (next.type !== 'identifier' && next.type !== '!') {
        throw new SelectorError(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.#requirement());
      const after = this.#takeValue();
      if (after.type === 'end') return found;
      if (after.type !== ',')
        throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      const following = this.#peekValue();
      if (following.type !== 'identifier' && following.type !== '!') {
        throw new SelectorError(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): Requirement {
    let token = this.#takeValue();
    const isAbsence = token.type === '!';
    if (isAbsence) token = this.#takeValue();
    if (token.type !== 'identifier') throw unparsable(`found '${token.text}', expected: identifier`);
    const key = token.text;
    checkKey(key);
    const next = this.#peekValue();
    // As upstream: the caller checks what follows `!key`.
    if (isAbsence) return requirement(key, 'DoesNotExist', []);
    if (next.type === 'end' || next.type === ',') return requirement(key, 'Exists', []);
    return this.#comparison(key);
  }

  #comparison(key: string): Requirement {
    const operator = this.#take();
    switch (operator.type) {
      case 'in':
        return requirement(key, 'In', this.#values());
      case 'notin':
        return requirement(key, 'NotIn', this.#values());
      case '=':
      case '==':
        return requirement(key, 'In', [this.#exactValue()]);
      case '!=':
        return requirement(key, 'NotIn', [this.#exactValue()]);
      case '>':
        return requirement(key, 'Gt', [this.#exactValue()]);
      case '<':
        return requirement(key, 'Lt', [this.#exactValue()]);
      default:
        throw unparsable(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #exactValue(): string {
    const next = this.#peekValue();
    if (next.type === 'end' || next.type === ',') return '';
    const token = this.#takeValue();
    if (token.type === 'identifier') return token.text;
    throw unparsable(`found '${token.text}', expected: identifier`);
  }

  /** `(a,b)`; an empty item counts as an empty value, and `()` as one. */
  #values(): readonly string[] {
    const open = this.#takeValue();
    if (open.type !== '(') throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.#peekValue();
    if (first.type !== 'identifier' && first.type !== ',' && first.type !== ')') {
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    let current = '';
    for (;;) {
      const token = this.#takeValue();
      if (token.type === ')' || token.type === ',') {
        values.push(current);
        current = '';
        if (token.type === ')') return [...new Set(values)];
      } else if (token.type === 'identifier' && current === '') {
        current = token.text;
      } else {
        const expected = current === '' ? "',', or identifier" : "',' or ')'";
        throw unparsable(`found '${token.text}', expected: ${expected}`);
      }
    }
  }

  #take(): Token {
    const token = this.#tokens[this.#position] ?? end;
    this.#position += 1;
    return token;
  }

  /** `in` and `notin` are plain text where a key or a value is expected. */
  #takeValue(): Token {
    const token = this.#peekValue();
    this.#position += 1;
    return token;
  }

  #peekValue(): Token {
    const token = this.#tokens[this.#position] ?? end;
    return token.type === 'in' || token.type === 'notin' ? { type: 'identifier', text: token.text } : token;
  }
}

function requirement(key: string, operator: RequirementOperator, values: readonly string[]): Requirement {
  for (const value of values) checkValue(key, value);
  const isComparison = operator === 'Gt' || operator === 'Lt';
  const bound = isComparison ? parseInt64(values[0] ?? '') : undefined;
  if (isComparison && bound === undefined) {
    throw unparsable(
      `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  return { key, operator, values: new Set(isComparison ? [] : values), bound };
}

function checkKey(key: string): void {
  const problems = qualifiedNameProblems(key);
  if (problems.length > 0)
    throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join('; ')}`);
}

function checkValue(key: string, value: string): void {
  const problems = labelValueProblems(value);
  if (problems.length > 0)
    throw unparsable(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`);
}

function unparsable(what: string): SelectorError {
  return new SelectorError(`unable to parse requirement: ${what}`);
}
