import type { Value } from '../values/values.ts';
import {
  accumulatorName,
  type Call,
  type Comprehension,
  type Expr,
  type Ident,
  type ListExpr,
  type Literal,
  type MapEntry,
  type MapExpr,
  type Select,
  type StructExpr,
  type StructField,
} from './ast.ts';

/**
 * Macros can repeat their operand, so a short text can expand to a huge tree. cel-go has no limit here; this one is far
 * above hand-written rules.
 */
const nodesMax = 200_000;

export class NodeLimitExceeded extends Error {
  constructor() {
    super(`expression exceeds ${nodesMax} nodes after its macros are expanded`);
  }
}

/** Creates nodes with unique ids and stores their positions in the text. */
export class NodeFactory {
  readonly #offsets: number[] = [];

  id(offset: number): number {
    if (this.#offsets.length >= nodesMax) throw new NodeLimitExceeded();
    this.#offsets.push(offset);
    return this.#offsets.length;
  }

  offsetOf(id: number): number {
    return this.#offsets[id - 1] ?? 0;
  }

  literal(offset: number, value: Value): Literal {
    return { kind: 'literal', id: this.id(offset), value };
  }

  ident(id: number, name: string): Ident {
    return { kind: 'ident', id, name };
  }

  accumulator(offset: number): Ident {
    return this.ident(this.id(offset), accumulatorName);
  }

  select(id: number, operand: Expr, field: string, testOnly = false): Select {
    return { kind: 'select', id, operand, field, testOnly };
  }

  call(id: number, name: string, args: readonly Expr[], target?: Expr): Call {
    return { kind: 'call', id, function: name, target, args };
  }

  list(id: number, elements: readonly Expr[], optional: ReadonlySet<number> = new Set()): ListExpr {
    return { kind: 'list', id, elements, optional };
  }

  map(id: number, entries: readonly MapEntry[]): MapExpr {
    return { kind: 'map', id, entries };
  }

  struct(id: number, typeName: string, fields: readonly StructField[]): StructExpr {
    return { kind: 'struct', id, typeName, fields };
  }

  comprehension(id: number, parts: Omit<Comprehension, 'kind' | 'id'>): Comprehension {
    return { kind: 'comprehension', id, ...parts };
  }

  /** A copy of a tree with new ids. */
  copy(expr: Expr): Expr {
    const id = this.id(this.offsetOf(expr.id));
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) };
      case 'call':
        return this.call(
          id,
          expr.function,
          expr.args.map((arg) => this.copy(arg)),
          expr.target === undefined ? undefined : this.copy(expr.target),
        );
      case 'list':
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) };
      case 'map':
        return this.map(
          id,
          expr.entries.map((entry) => ({
            ...entry,
            ...this.#copyParts(entry.id, entry),
            key: this.copy(entry.key),
          })),
        );
      case 'struct':
        return this.struct(
          id,
          expr.typeName,
          expr.fields.map((field) => ({ ...field, ...this.#copyParts(field.id, field) })),
        );
      case 'comprehension':
        return this.#copyComprehension(id, expr);
    }
  }

  #copyParts(id: number, part: { readonly value: Expr }): { readonly id: number; readonly value: Expr } {
    return { id: this.id(this.offsetOf(id)), value: this.copy(part.value) };
  }

  #copyComprehension(id: number, expr: Comprehension): Comprehension {
    return {
      ...expr,
      id,
      range: this.copy(expr.range),
      init: this.copy(expr.init),
      condition: this.copy(expr.condition),
      step: this.copy(expr.step),
      result: this.copy(expr.result),
    };
  }
}
