import { codePointCount } from '../../../kube/go/quote.ts';
import type { CheckedExpression } from '../checking/checker.ts';
import { accumulatorName, type Expr } from '../language/ast.ts';
import type { CelType, CelTypeKind } from '../types/types.ts';
import { type CostRange, exactRange, rangeUnion, unknownSize } from './cost-range.ts';

/** A path into the object of a rule: `self`, `spec`, `@items`. */
export type Path = readonly string[];

/** The size of the value at the end of a path, by the schema. */
export type SizeOfPath = (path: Path) => CostRange | undefined;

/** The sizes of the entries of a list or a map. */
export interface EntrySizes {
  readonly container: 'list' | 'map';
  readonly key: CostRange;
  readonly value: CostRange;
}

/** What the estimate knows about an argument. */
export interface EstimatedNode {
  readonly path: Path | undefined;
  readonly type: CelType;
  readonly expr: Expr | undefined;
  readonly size: CostRange | undefined;
}

interface LocalVariable {
  readonly path: Path;
  readonly size: CostRange | undefined;
  readonly entries: EntrySizes | undefined;
}

/** Stores the sizes and paths of parts of an expression while its cost is estimated. */
export class KnownSizes {
  readonly #checked: CheckedExpression;
  readonly #sizeOfPath: SizeOfPath;
  readonly #sizes = new Map<number, CostRange>();
  readonly #entries = new Map<number, EntrySizes>();
  readonly #paths = new Map<number, Path>();
  readonly #variables = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedExpression, sizeOfPath: SizeOfPath) {
    this.#checked = checked;
    this.#sizeOfPath = sizeOfPath;
  }

  get sizeOfPath(): SizeOfPath {
    return this.#sizeOfPath;
  }

  node(expr: Expr): EstimatedNode {
    const path = this.pathOf(expr);
    const isAccumulator = path[0] === accumulatorName || path[0] === '__result__';
    return {
      path: isAccumulator || path.length === 0 ? undefined : path,
      type: this.#checked.typeOf(expr),
      expr,
      size: this.sizeOf(expr),
    };
  }

  pathOf(expr: Expr): Path {
    if (expr.kind === 'ident') {
      const variable = this.#variables.get(expr.name)?.at(-1);
      if (variable !== undefined) return variable.path;
    }
    return this.#paths.get(expr.id) ?? [];
  }

  setPath(expr: Expr, path: Path): void {
    this.#paths.set(expr.id, path);
  }

  setIdentPath(expr: Expr, name: string): void {
    this.#paths.set(expr.id, this.#variables.get(name)?.at(-1)?.path ?? [name]);
  }

  setSize(expr: Expr, size: CostRange | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  sizeOf(expr: Expr): CostRange | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known !== undefined) return known;
    const path = this.pathOf(expr);
    const declared = path.length === 0 ? undefined : this.#sizeOfPath(path);
    if (declared !== undefined) {
      this.#sizes.set(expr.id, declared);
      return declared;
    }
    if (isScalar(this.#checked.typeOf(expr))) return exactRange(1);
    return expr.kind === 'ident' ? this.#variables.get(expr.name)?.at(-1)?.size : undefined;
  }

  sizeOrUnknown(expr: Expr): CostRange {
    return this.sizeOf(expr) ?? unknownSize;
  }

  setEntries(expr: Expr, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries);
  }

  entriesOf(expr: Expr): EntrySizes | undefined {
    const known = this.#entries.get(expr.id);
    if (known !== undefined || expr.kind !== 'ident') return known;
    return this.#variables.get(expr.name)?.at(-1)?.entries;
  }

  copy(to: Expr, from: Expr): void {
    this.setSize(to, this.sizeOf(from));
    this.setEntries(to, this.entriesOf(from));
  }

  bind(name: string, expr: Expr): void {
    this.#push(name, { path: this.pathOf(expr), size: this.sizeOf(expr), entries: this.entriesOf(expr) });
  }

  /**
   * Binds the variable of a loop: `part` is the part of an entry that it refers to; by default, values of a list and
   * keys of a map.
   */
  bindLoop(name: string, range: Expr, part: 'key' | 'value' | 'single'): void {
    const entries = this.entriesOf(range);
    const container: CelTypeKind = entries?.container ?? this.#checked.typeOf(range).kind;
    const isList = container === 'list';
    const isValue = part === 'value' || (part === 'single' && isList);
    const step = isValue ? (isList ? '@items' : '@values') : isList ? '@indices' : '@keys';
    const size = isValue ? entries?.value : entries?.key;
    this.#push(name, { path: [...this.pathOf(range), step], size, entries: undefined });
  }

  unbind(name: string): void {
    this.#variables.get(name)?.pop();
  }

  #push(name: string, variable: LocalVariable): void {
    const stack = this.#variables.get(name) ?? [];
    stack.push(variable);
    this.#variables.set(name, stack);
  }
}

export function unionOfEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { container: a.container, key: rangeUnion(a.key, b.key), value: rangeUnion(a.value, b.value) };
}

/** The size of a literal. */
function literalSize(expr: Expr): CostRange | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return exactRange(codePointCount(expr.value));
      return exactRange(expr.value instanceof Uint8Array ? expr.value.length : 1);
    case 'list':
      return exactRange(expr.elements.length);
    case 'map':
      return exactRange(expr.entries.length);
    default:
      return undefined;
  }
}

function isScalar(type: CelType): boolean {
  if (type.kind === 'opaque' && type.name === 'optional_type') {
    return type.params[0] !== undefined && isScalar(type.params[0]);
  }
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
