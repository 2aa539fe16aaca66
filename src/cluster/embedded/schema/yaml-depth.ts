import { CST, Lexer } from 'yaml';

/** No API type comes near. Every level of a block counts up to twice: its indentation, and what opens it. */
const depthMax = 500;

/**
 * Whether a YAML text is nested so deep that reading it would exhaust the stack. That must be known before: the reader takes a
 * time that grows with the square of the depth, and where the stack ends inside a regular expression, so does the process.
 */
export function isTooDeep(text: string): boolean {
  const nesting = new Nesting();
  for (const token of new Lexer().lex(text)) {
    nesting.add(token);
    if (nesting.depth > depthMax) return true;
  }
  return false;
}

/** Follows the tokens of a text: which collections are open, in blocks by their columns, in brackets by their number. */
class Nesting {
  readonly #columns: number[] = [];
  #brackets = 0;
  #column = 0;
  #isScalar = false;

  get depth(): number {
    return this.#columns.length + this.#brackets;
  }

  add(token: string): void {
    if (this.#isScalar) this.#isScalar = false;
    else this.#count(token);
    const lineStart = token.lastIndexOf('\n') + 1;
    this.#column = lineStart > 0 ? token.length - lineStart : this.#column + token.length;
  }

  #count(token: string): void {
    switch (CST.tokenType(token)) {
      case 'scalar':
        // Only a mark: the text follows, and may look like anything.
        this.#isScalar = true;
        this.#column -= token.length;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        if (this.#brackets === 0) this.#open();
        break;
      case 'flow-seq-start':
      case 'flow-map-start':
        this.#brackets += 1;
        break;
      case 'flow-seq-end':
      case 'flow-map-end':
        this.#brackets = Math.max(0, this.#brackets - 1);
        break;
      case 'doc-start':
      case 'doc-end':
        this.#columns.length = 0;
        this.#brackets = 0;
    }
  }

  #open(): void {
    while ((this.#columns.at(-1) ?? -1) >= this.#column) this.#columns.pop();
    this.#columns.push(this.#column);
  }
}
