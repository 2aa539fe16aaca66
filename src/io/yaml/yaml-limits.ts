import { CST, Lexer } from 'yaml';

/** No API type comes near. Every level of a block counts up to twice: its indentation, and what opens it. */
const depthMax = 500;
/** What is named for use elsewhere; the reader looks through all of them for each use. */
const anchorsMax = 100;
/** All tags before a node are looked at for each of them. */
const tagsMax = 1_000;
/** Some 40,000 lines, which take a second or two. Whoever may do nothing may still ask what he may do, and nobody is answered meanwhile. */
const tokensMaxOfRequests = 300_000;

/**
 * What makes a YAML text too expensive to be read; undefined where nothing does. It must be known before: the reader takes a time
 * that grows with the square of depth, names and mistakes, and where the stack ends inside a regular expression, so does the
 * process.
 */
export function costComplaint(text: string, tokensMax = tokensMaxOfRequests): string | undefined {
  const tokens = new TokenCount();
  for (const token of new Lexer().lex(text)) {
    tokens.add(token);
    // The words are Go's, whose own limit is higher.
    if (tokens.depth > depthMax) return 'yaml: exceeded max depth of 10000';
    if (tokens.anchors > anchorsMax) return 'yaml: document contains excessive aliasing';
    if (tokens.tags > tagsMax) return 'yaml: document contains excessive tags';
    if (tokens.count > tokensMax) return 'yaml: document is too large, send it as JSON';
    if (tokens.isBroken) return `yaml: line ${tokens.line}: did not find expected node content`;
  }
  return undefined;
}

/** Follows the tokens of a text: which collections are open, in blocks by their columns, in brackets by their number. */
class TokenCount {
  readonly #columns: number[] = [];
  #brackets = 0;
  #column = 0;
  #isScalar = false;
  /** In brackets, and nothing came since the last comma. */
  #wantsItem = false;
  anchors = 0;
  tags = 0;
  count = 0;
  line = 1;
  /** A bracket that closes nothing, or a comma after nothing: there is no document with one of these. */
  isBroken = false;

  get depth(): number {
    return this.#columns.length + this.#brackets;
  }

  add(token: string): void {
    this.count += 1;
    if (this.#isScalar) this.#isScalar = false;
    else this.#count(token);
    if (this.isBroken) return;
    const lineStart = token.lastIndexOf('\n') + 1;
    this.#column = lineStart > 0 ? token.length - lineStart : this.#column + token.length;
    if (lineStart > 0) this.line += token.split('\n').length - 1;
  }

  #count(token: string): void {
    const type = CST.tokenType(token);
    switch (type) {
      case 'space':
      case 'newline':
      case 'comment':
        return;
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
