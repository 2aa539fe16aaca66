import { type Expr, type MapEntry, operators, type StructField } from './ast.ts';
import { balancedTree } from './balanced-tree.ts';
import { type Token, tokenize } from './lexer.ts';
import { literalNode } from './literals.ts';
import { expandMacro } from './macros.ts';
import { NodeFactory, NodeLimitExceeded } from './node-factory.ts';
import { Issues, noLocation, Source } from './source.ts';
import { ParsingAborted, TokenStream } from './token-stream.ts';

/** As cel-go limits them: how deep an expression may nest, and how many code points it may have. */
const nestingMax = 250;
const sizeMax = 100_000;

export interface ParsedExpression {
  readonly source: Source;
  readonly issues: Issues;
  /** Undefined where there are issues. */
  readonly expr: Expr | undefined;
  offsetOf(id: number): number;
}

/** Reads an expression. What it finds wrong it says in the words of cel-go, whose parser ANTLR makes from a grammar. */
export function parseExpression(text: string): ParsedExpression {
  const source = new Source(text);
  const issues = new Issues(source);
  const nodes = new NodeFactory();
  const parsed = { source, issues, offsetOf: (id: number) => nodes.offsetOf(id) };
  if (source.size > sizeMax) {
    const sizes = `size: ${source.size}, limit ${sizeMax}`;
    issues.reportAt(noLocation, `expression code point size exceeds limit: ${sizes}`);
    return { ...parsed, expr: undefined };
  }
  const expr = new Parser(new TokenStream(tokenize(source, issues), issues), nodes, issues).parse();
  return { ...parsed, expr: issues.count === 0 ? expr : undefined };
}

/** A part of the expression, and how deep cel-go's visitor would have to go for it. */
interface ParsedOperand {
  readonly expr: Expr;
  readonly depth: number;
}

class NestingLimitExceeded extends Error {}

const relations: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const reserved: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop package namespace null return true var ' +
    'void while'
  ).split(' '),
);

class Parser {
  readonly #tokens: TokenStream;
  readonly #nodes: NodeFactory;
  readonly #issues: Issues;
  #nesting = 0;

  constructor(tokens: TokenStream, nodes: NodeFactory, issues: Issues) {
    this.#tokens = tokens;
    this.#nodes = nodes;
    this.#issues = issues;
  }

  parse(): Expr | undefined {
    try {
      const { expr, depth } = this.#expr();
      this.#tokens.expectEnd();
      if (depth > nestingMax) throw new NestingLimitExceeded('max recursion depth exceeded');
      return expr;
    } catch (error) {
      if (error instanceof NestingLimitExceeded || error instanceof NodeLimitExceeded) {
        this.#issues.reportAt(noLocation, error.message);
      } else if (!(error instanceof ParsingAborted)) {
        throw error;
      }
      return undefined;
    }
  }

  #expr(): ParsedOperand {
    this.#nesting++;
    if (this.#nesting > nestingMax)
      throw new NestingLimitExceeded(`expression recursion limit exceeded: ${nestingMax}`);
    const part = this.#conditional();
    this.#nesting--;
    return part;
  }

  #conditional(): ParsedOperand {
    const condition = this.#or();
    const question = this.#tokens.take('?');
    if (question === undefined) return condition;
    const whenTrue = this.#or();
    this.#tokens.expect(':');
    const whenFalse = this.#expr();
    return this.#call(question, operators.conditional, [condition, whenTrue, whenFalse]);
  }

  #or(): ParsedOperand {
    return this.#logical('||', operators.or, () => this.#and());
  }

  #and(): ParsedOperand {
    return this.#logical('&&', operators.and, () => this.#relation());
  }

  #logical(symbol: string, name: string, next: () => ParsedOperand): ParsedOperand {
    const terms = [next()];
    const ids: number[] = [];
    for (;;) {
      const token = this.#tokens.take(symbol);
      if (token === undefined) break;
      terms.push(next());
      ids.push(this.#nodes.id(token.offset));
    }
    const exprs = terms.map((term) => term.expr);
    const expr = balancedTree(exprs, ids, (id, left, right) => this.#nodes.call(id, name, [left, right]));
    return { expr, depth: deepest(terms) };
  }

  #relation(): ParsedOperand {
    let left = this.#sum();
    for (;;) {
      const token = this.#tokens.takeOneOf(relations);
      if (token === undefined) return left;
      const name = token.text === 'in' ? operators.in : `_${token.text}_`;
      left = this.#binary(token, name, left, () => this.#sum());
    }
  }

  #sum(): ParsedOperand {
    let left = this.#product();
    for (;;) {
      const token = this.#tokens.take('+') ?? this.#tokens.take('-');
      if (token === undefined) return left;
      left = this.#binary(token, `_${token.text}_`, left, () => this.#product());
    }
  }

  #product(): ParsedOperand {
    let left = this.#unary();
    for (;;) {
      const token = this.#tokens.take('*') ?? this.#tokens.take('/') ?? this.#tokens.take('%');
      if (token === undefined) return left;
      left = this.#binary(token, `_${token.text}_`, left, () => this.#unary());
    }
  }

  #binary(token: Token, name: string, left: ParsedOperand, next: () => ParsedOperand): ParsedOperand {
    const id = this.#nodes.id(token.offset);
    const right = next();
    const expr = this.#nodes.call(id, name, [left.expr, right.expr]);
    return { expr, depth: deepest([left, right]) + 1 };
  }

  #unary(): ParsedOperand {
    this.#tokens.expectOperand();
    const first = this.#tokens.peek();
    if (first.text === '!' && first.kind === 'symbol') return this.#prefixed('!', operators.not);
    const isNegative = first.text === '-' && first.kind === 'symbol';
    if (isNegative && !isNumber(this.#tokens.peek(1))) return this.#prefixed('-', operators.negate);
    return this.#member();
  }

  #prefixed(symbol: string, name: string): ParsedOperand {
    const first = this.#tokens.peek();
    let count = 0;
    while (this.#tokens.take(symbol) !== undefined) count++;
    this.#tokens.expectSigned(symbol);
    if (count % 2 === 0) return this.#member();
    const id = this.#nodes.id(first.offset);
    const { expr, depth } = this.#member();
    return { expr: this.#nodes.call(id, name, [expr]), depth };
  }

  #member(): ParsedOperand {
    let part = this.#primary();
    for (;;) {
      const dot = this.#tokens.take('.');
      if (dot !== undefined) {
        part = this.#selected(part, dot);
        continue;
      }
      const bracket = this.#tokens.take('[');
      if (bracket === undefined) return part;
      const isOptional = this.#tokens.take('?') !== undefined;
      if (!isOptional) this.#tokens.expectOperand("'?'");
      const id = this.#nodes.id(bracket.offset);
      const index = this.#expr();
      this.#tokens.expect(']');
      const name = isOptional ? operators.optionalIndex : operators.index;
      part = {
        expr: this.#nodes.call(id, name, [part.expr, index.expr]),
        depth: deepest([part, index]) + 1,
      };
    }
  }

  #selected(operand: ParsedOperand, dot: Token): ParsedOperand {
    const isOptional = this.#tokens.take('?') !== undefined;
    const name = isOptional ? this.#tokens.takeOptionalName() : this.#tokens.takeName(dot);
    if (name.kind === 'escaped identifier') this.#issues.report(name.offset, "unsupported syntax: '`'");
    const depth = operand.depth + 1;
    if (isOptional) {
      const id = this.#nodes.id(dot.offset);
      const field = this.#nodes.literal(name.offset, name.text);
      return { expr: this.#nodes.call(id, operators.optionalSelect, [operand.expr, field]), depth };
    }
    const open = this.#tokens.take('(');
    if (open === undefined) {
      return { expr: this.#nodes.select(this.#nodes.id(dot.offset), operand.expr, name.text), depth };
    }
    const id = this.#nodes.id(open.offset);
    const args = this.#arguments();
    const expr = this.#callOrMacro(id, name.text, operand.expr, args);
    return { expr, depth: deepest([operand, ...args]) + 1 };
  }

  #arguments(): readonly ParsedOperand[] {
    const args: ParsedOperand[] = [];
    if (this.#tokens.take(')') !== undefined) return args;
    this.#tokens.expectOperand("')'");
    if (this.#tokens.take(')') !== undefined) return args;
    args.push(this.#expr());
    while (this.#tokens.take(',') !== undefined) args.push(this.#expr());
    this.#tokens.expect(')');
    return args;
  }

  #primary(): ParsedOperand {
    const token = this.#tokens.next();
    switch (token.kind) {
      case 'symbol':
        return this.#punctuated(token);
      case 'identifier':
        return this.#named(token, '');
      default:
        return { expr: literalNode(token, this.#nodes, this.#issues), depth: 0 };
    }
  }

  #punctuated(token: Token): ParsedOperand {
    switch (token.text) {
      case '(': {
        const part = this.#expr();
        this.#tokens.expect(')');
        return part;
      }
      case '[':
        return this.#list(token);
      case '{':
        return this.#map(token);
      case '-': {
        const number = this.#tokens.next();
        const signed = { ...number, text: `-${number.text}`, offset: token.offset };
        return { expr: literalNode(signed, this.#nodes, this.#issues), depth: 0 };
      }
      default:
        return this.#named(this.#tokens.takeName(token), '.');
    }
  }

  #named(name: Token, prefix: '' | '.'): ParsedOperand {
    if (this.#isMessage()) return this.#message(name, prefix);
    if (reserved.has(name.text)) {
      this.#issues.report(prefix === '' ? name.offset : name.offset - 1, `reserved identifier: ${name.text}`);
    }
    const open = this.#tokens.take('(');
    if (open === undefined) {
      return { expr: this.#nodes.ident(this.#nodes.id(name.offset), prefix + name.text), depth: 0 };
    }
    const id = this.#nodes.id(open.offset);
    const args = this.#arguments();
    return { expr: this.#callOrMacro(id, prefix + name.text, undefined, args), depth: deepest(args) };
  }

  /** `a.b.c{` */
  #isMessage(): boolean {
    let ahead = 0;
    while (this.#tokens.peek(ahead).text === '.' && this.#tokens.peek(ahead + 1).kind === 'identifier')
      ahead += 2;
    const token = this.#tokens.peek(ahead);
    return token.kind === 'symbol' && token.text === '{';
  }

  #message(first: Token, prefix: '' | '.'): ParsedOperand {
    let name = prefix + first.text;
    while (this.#tokens.take('.') !== undefined) name += `.${this.#tokens.next().text}`;
    const open = this.#tokens.next();
    const id = this.#nodes.id(open.offset);
    const fields: StructField[] = [];
    const parts: ParsedOperand[] = [];
    this.#separated(
      '}',
      () => {
        const optional = this.#tokens.take('?') !== undefined;
        const field = this.#tokens.takeField();
        const colon = this.#tokens.expect(':');
        const fieldId = this.#nodes.id(colon.offset);
        const value = this.#expr();
        parts.push(value);
        fields.push({ id: fieldId, name: field.text, value: value.expr, optional });
      },
      true,
    );
    return { expr: this.#nodes.struct(id, name, fields), depth: deepest(parts) };
  }

  #list(open: Token): ParsedOperand {
    const id = this.#nodes.id(open.offset);
    const parts: ParsedOperand[] = [];
    const optional = new Set<number>();
    this.#separated(']', () => {
      if (this.#tokens.take('?') !== undefined) optional.add(parts.length);
      parts.push(this.#expr());
    });
    const elements = parts.map((part) => part.expr);
    return { expr: this.#nodes.list(id, elements, optional), depth: deepest(parts) };
  }

  #map(open: Token): ParsedOperand {
    const id = this.#nodes.id(open.offset);
    const parts: ParsedOperand[] = [];
    const entries: MapEntry[] = [];
    this.#separated('}', () => {
      const optional = this.#tokens.take('?') !== undefined;
      const key = this.#expr();
      const colon = this.#tokens.expect(':');
      const entryId = this.#nodes.id(colon.offset);
      const value = this.#expr();
      parts.push(key, value);
      entries.push({ id: entryId, key: key.expr, value: value.expr, optional });
    });
    return { expr: this.#nodes.map(id, entries), depth: deepest(parts) };
  }

  /** Items between commas, the last of which may stand alone, up to the closing bracket. */
  #separated(close: ']' | '}', readItem: () => void, startsWithName = false): void {
    for (let isFirst = true; ; isFirst = false) {
      const isClosed =
        this.#tokens.peek().text === close || (isFirst && this.#tokens.take(',') !== undefined);
      if (isClosed || (!isFirst && !this.#tokens.canStartItem())) break;
      if (isFirst && !startsWithName) this.#tokens.expectOperand(`'${close}'`, "','", "'?'");
      readItem();
      if (this.#tokens.peek().text !== close) this.#tokens.expectComma(close);
    }
    this.#tokens.expect(close);
  }

  #call(token: Token, name: string, args: readonly ParsedOperand[]): ParsedOperand {
    const exprs = args.map((arg) => arg.expr);
    return { expr: this.#nodes.call(this.#nodes.id(token.offset), name, exprs), depth: deepest(args) + 1 };
  }

  #callOrMacro(id: number, name: string, target: Expr | undefined, args: readonly ParsedOperand[]): Expr {
    const exprs = args.map((arg) => arg.expr);
    const expanded = expandMacro(this.#nodes, { id, name, target, args: exprs });
    if (expanded === undefined) return this.#nodes.call(id, name, exprs, target);
    if ('problem' in expanded) {
      this.#issues.report(this.#nodes.offsetOf(expanded.id), expanded.problem);
      return this.#nodes.literal(this.#nodes.offsetOf(id), null);
    }
    return expanded;
  }
}

function isNumber(token: Token): boolean {
  return token.kind === 'int' || token.kind === 'float';
}

function deepest(parts: readonly ParsedOperand[]): number {
  let depth = 0;
  for (const part of parts) depth = Math.max(depth, part.depth);
  return depth;
}
