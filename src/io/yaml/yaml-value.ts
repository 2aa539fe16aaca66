import { isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { JsonNumber } from '../../kube/go/json-number.ts';
import { setKey } from '../../kube/go/json-value.ts';

/** Thrown for a document that cannot become JSON; the message has no prefix. */
export class YamlValueError extends Error {}

/** So many values may an alias expand to, as in Go's decoder, before the document counts as an attack. */
const aliasedValuesMax = 400_000;

/**
 * Converts the nodes of a document to plain JSON, in the order of the text. The YAML package can do that too, but it looks
 * through the whole document for every alias.
 */
export class YamlValues {
  readonly #anchors = new Map<string, Anchored>();
  #aliasedValues = 0;

  convert(node: unknown): unknown {
    if (isAlias(node)) return this.#aliased(node.source);
    const anchor = anchorOf(node);
    if (anchor === undefined) return this.#content(node);
    this.#anchors.set(anchor, undefined);
    const value = this.#content(node);
    this.#anchors.set(anchor, { value });
    return value;
  }

  #content(node: unknown): unknown {
    if (isScalar(node)) return scalarValue(node.value);
    if (isMap(node)) return this.#map(node);
    if (isSeq(node)) return node.items.map((item) => this.convert(isPair(item) ? item.value : item));
    return null;
  }

  /** A copy, because the caller may change one of them. */
  #aliased(name: string): unknown {
    const anchored = this.#anchors.get(name);
    if (anchored !== undefined) return this.#copy(anchored.value);
    const problem = this.#anchors.has(name)
      ? `anchor '${name}' value contains itself`
      : `unknown anchor '${name}' referenced`;
    throw new YamlValueError(problem);
  }

  #copy(value: unknown): unknown {
    this.#aliasedValues += 1;
    if (this.#aliasedValues > aliasedValuesMax)
      throw new YamlValueError('document contains excessive aliasing');
    if (Array.isArray(value)) return value.map((item) => this.#copy(item));
    if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value;
    const copy: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(value)) setKey(copy, key, this.#copy(each));
    return copy;
  }

  /** Keys of the map itself win over merged ones, and earlier merged ones over later ones. */
  #map(map: YAMLMap): Record<string, unknown> {
    const own: Record<string, unknown> = {};
    const merged: Record<string, unknown>[] = [];
    for (const pair of map.items as readonly Pair[]) {
      if (isMergeKey(pair.key)) merged.push(...this.#mergeSources(pair.value));
      else setKey(own, this.#key(pair.key), this.convert(pair.value));
    }
    for (const source of merged) {
      for (const [key, value] of Object.entries(source))
        if (!Object.hasOwn(own, key)) setKey(own, key, value);
    }
    return own;
  }

  #mergeSources(node: unknown): readonly Record<string, unknown>[] {
    const value = this.convert(node);
    const sources = Array.isArray(value) ? value : [value];
    if (sources.every(isObject)) return sources;
    throw new YamlValueError('map merge requires map or sequence of maps as the value');
  }

  #key(node: unknown): string {
    const value = this.convert(node);
    if (value === null) return '';
    return value instanceof JsonNumber ? value.text : String(value);
  }
}

/** Undefined while the value itself is being converted. */
type Anchored = { readonly value: unknown } | undefined;

function anchorOf(node: unknown): string | undefined {
  return (node as Partial<Node & { anchor: string }> | null)?.anchor;
}

function scalarValue(value: unknown): unknown {
  if (typeof value !== 'bigint') return value ?? null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : new JsonNumber(value.toString());
}

/** The YAML package represents `<<` by a symbol. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}
