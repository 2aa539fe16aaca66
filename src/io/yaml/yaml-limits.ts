import { CST, Lexer } from 'yaml';

/** No API type comes near this depth. Every level of a block counts up to twice: its indentation, and the token that opens it. */
const depthMax = 500;
/** The limit of anchors; the parser searches all of them for each alias. */
const anchorsMax = 100;
/** The limit of tags; the parser examines all tags before a node for each of them. */
const tagsMax = 1_000;
/**
 * Tokens, and lines of scalars. About 40,000 lines of a manifest, which take a second or two. Even users without permissions may send a body, and the server
 * handles no other request while it parses.
 */
const tokensMaxOfRequests = 300_000;

/**
 * An error message if a YAML text is too expensive to parse; undefined if it is not. This must be checked before
 * parsing: the parser's time grows with the square of depth and anchors, and if the stack overflows inside a regular
 * expression, the process ends.
 */
export function costProblem(text: string, tokensMax = tokensMaxOfRequests): string | undefined {
  const tokens = new TokenCount();
  for (const token of new Lexer().lex(text)) {
    tokens.add(token);
    // Go's message; its own limit is higher.
    if (tokens.depth > depthMax) return 'yaml: exceeded max depth of 10000';
    if (tokens.anchors > anchorsMax) return 'yaml: document contains excessive aliasing';
    if (tokens.tags > tagsMax) return 'yaml: document contains excessive tags';
    if (tokens.count > tokensMax) return 'yaml: document is too large, send it as JSON';
    if (tokens.isBroken) return `yaml: line ${tokens.line}: did not find expected node content`;
  }
  return undefined;
}

/** Tracks the open collections of a token stream: blocks by their columns, flow collections by their brackets. */
class TokenCount {
  readonly #columns: number[] = [];
  #brackets = 0;
  #column = 0;
  #isScalar = false;
  /** Inside brackets, with nothing since the last comma. */
  #wantsItem = false;
  anchors = 0;
  tags = 0;
  count = 0;
  line = 1;
  /** A closing bracket without an opening one, or a comma without an item: such a text is not a valid document. */
  isBroken = false;

  get depth(): number {
    return this.#columns.length + this.#brackets;
  }

  add(token: string): void {
    const lineStart = token.lastIndexOf('\n') + 1;
    const lines = lineStart > 0 ? token.split('\n').length - 1 : 0;
    // A scalar is one token, but the parser folds each of its lines.
    this.count += Math.max(1, lines);
    if (this.#isScalar) this.#isScalar = false;
    else this.#count(token);
    if (this.isBroken) return;
    this.#column = lineStart > 0 ? token.length - lineStart : this.#column + token.length;
    this.line += lines;
  }

  #count(token: string): void {
    const type = CST.tokenType(token);
    switch (type) {
      case 'space':
      case 'newline':
      case 'comment':
        return;
      case 'scalar':
        // Only an indicator: the text follows and may contain anything.
        this.#isScalar = true;
        this.#column -= token.length;
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
      case 'map-value-ind':
        if (this.#brackets === 0) this.#open();
        break;
      case 'anchor':
        this.anchors += 1;
        break;
      case 'tag':
        this.tags += 1;
        break;
      case 'doc-start':
      case 'doc-end':
        this.#columns.length = 0;
        this.#brackets = 0;
        break;
      default:
        this.#countBracket(type);
        return;
    }
    this.#wantsItem = false;
  }

  #countBracket(type: CST.TokenType | null): void {
    const isStart = type === 'flow-seq-start' || type === 'flow-map-start';
    const isEnd = type === 'flow-seq-end' || type === 'flow-map-end';
    if (isStart) this.#brackets += 1;
    if (isEnd) this.#brackets -= 1;
    this.isBroken = this.#brackets < 0 || (type === 'comma' && this.#wantsItem);
    this.#wantsItem = isStart || type === 'comma';
  }

  #open(): void {
    while ((this.#columns.at(-1) ?? -1) >= this.#column) this.#columns.pop();
    this.#columns.push(this.#column);
  }
}
