import { type CelType, sameType, typeArgument, types } from '../types/types.ts';

/**
 * The type parameters of an expression that are known so far. A failed attempt is rolled back; cel-go copies everything
 * before each attempt, which is quadratic.
 */
export class Substitutions {
  readonly #known = new Map<string, CelType>();
  #trail: { readonly name: string; readonly before: CelType | undefined }[] = [];
  #counter = 0;

  fresh(): CelType {
    return { kind: 'param', name: `_var${this.#counter++}`, params: [] };
  }

  assignable(a: CelType, b: CelType): boolean {
    return this.#attempt(() => this.#fits(a, b));
  }

  assignableLists(a: readonly CelType[], b: readonly CelType[]): boolean {
    return this.#attempt(() => this.#listsFit(a, b));
  }

  /** The type with all known parameters substituted; unknown ones become dyn, if `toDyn`. */
  substitute(type: CelType, toDyn = false): CelType {
    if (type.kind === 'param') {
      const known = this.#known.get(type.name);
      if (known !== undefined) return this.substitute(known, toDyn);
      return toDyn ? types.dyn : type;
    }
    if (type.params.length === 0) return type;
    const params = type.params.map((param) => this.substitute(param, toDyn));
    return params.every((param, index) => param === type.params[index]) ? type : { ...type, params };
  }

  #attempt(test: () => boolean): boolean {
    const outer = this.#trail;
    this.#trail = [];
    const fits = test();
    if (!fits) this.#undo();
    this.#trail = outer;
    return fits;
  }

  #undo(): void {
    for (const { name, before } of this.#trail.reverse()) {
      if (before === undefined) this.#known.delete(name);
      else this.#known.set(name, before);
    }
  }

  #set(name: string, type: CelType): void {
    this.#trail.push({ name, before: this.#known.get(name) });
    this.#known.set(name, type);
  }

  #listsFit(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, index) => this.#fits(type, b[index] ?? types.dyn));
  }

  #fits(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const { valid, known } = this.#canStandFor(a, b);
      if (valid) return true;
      if (known) return false;
    }
    if (a.kind === 'param') return this.#canStandFor(b, a).valid;
    if (isAnything(a) || isAnything(b)) return true;
    if (a.kind === 'null') return b.kind === 'null' || isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    if (a.kind !== b.kind) return false;
    if (a.kind === 'type') return true;
    if (a.kind === 'list' || a.kind === 'map' || a.kind === 'opaque') {
      return a.name === b.name && this.#listsFit(a.params, b.params);
    }
    return a.name === b.name;
  }

  #canStandFor(type: CelType, param: CelType): { readonly valid: boolean; readonly known: boolean } {
    if (sameType(type, param)) return { valid: true, known: true };
    const known = this.#known.get(param.name);
    if (known === undefined) {
      const valid = this.#isFreeOf(param, type);
      if (valid) this.#set(param.name, type);
      return { valid, known: false };
    }
    if (sameType(type, known)) return { valid: true, known: true };
    if (!this.#fits(type, known)) return { valid: false, known: true };
    const general = mostGeneral(type, known);
    if (this.#isFreeOf(param, general)) this.#set(param.name, general);
    return { valid: true, known: true };
  }

  #isFreeOf(param: CelType, within: CelType): boolean {
    if (sameType(param, within)) return false;
    if (within.kind === 'param') {
      const known = this.#known.get(within.name);
      return known === undefined || this.#isFreeOf(param, known);
    }
    return within.params.every((inner) => this.#isFreeOf(param, inner));
  }
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrLessSpecific(a, b) ? a : b;
}

/** Replaces the type parameters of an overload by fresh ones for each call. */
export function instantiate(type: CelType, fresh: ReadonlyMap<string, CelType>): CelType {
  if (type.kind === 'param') return fresh.get(type.name) ?? type;
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((param) => instantiate(param, fresh)) };
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true;
  if (b.kind === 'dyn' || b.kind === 'param') return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((param, index) => isEqualOrLessSpecific(param, typeArgument(b, index)))
      );
    case 'type':
      return true;
    default:
      return sameType(a, b);
  }
}

function isAnything(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

function isNullable(type: CelType): boolean {
  return ['opaque', 'struct', 'duration', 'timestamp'].includes(type.kind);
}
