import type { JsonSchema } from '../../schema/json-schema.ts';
import { equalItems } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import { isMap, itemsOf, type ListValue, type Value } from '../values/values.ts';
import { escapeProperty } from './escaping.ts';

type ToValue = (json: unknown, schema: JsonSchema) => Value;

interface ListSchemas {
  readonly schema: JsonSchema;
  readonly items: JsonSchema;
}

/**
 * A list in a resource. Two sets are equal in any order, and adding to a set adds missing elements. A list of type map
 * equals one with equal items by key, and adding to it replaces items in position.
 */
export class SchemaList implements ListValue {
  readonly kind = 'list';
  readonly isFromObject = true;
  readonly size: number;
  readonly #items: readonly Value[];
  readonly #schemas: ListSchemas;

  constructor(json: readonly unknown[], schemas: ListSchemas, toValue: ToValue) {
    this.#items = json.map((item) => toValue(item, schemas.items));
    this.#schemas = schemas;
    this.size = json.length;
  }

  at(index: number): Value {
    return this.#items[index] as Value;
  }

  equals(other: ListValue): Value {
    if (this.size !== other.size) return false;
    switch (this.#schemas.schema['x-kubernetes-list-type']) {
      case 'set':
        return this.#equalSet(other);
      case 'map':
        return this.#equalByKey(other);
      default:
        return equalItems(this, other);
    }
  }

  concat(other: ListValue): Value {
    const items = [...this.#items];
    switch (this.#schemas.schema['x-kubernetes-list-type']) {
      case 'set':
        this.#addToSet(items, other);
        break;
      case 'map':
        this.#addByKey(items, other);
        break;
      default:
        items.push(...itemsOf(other));
    }
    return new SchemaList(items, this.#schemas, (item) => item as Value);
  }

  #equalSet(other: ListValue): Value {
    const own = new Set(this.#items.map(textOf));
    return itemsOf(other).every((item) => own.has(textOf(item)));
  }

  #equalByKey(other: ListValue): Value {
    const own = new Map(this.#items.map((item) => [this.#keyOf(item), item]));
    for (const item of itemsOf(other)) {
      const mine = own.get(this.#keyOf(item));
      if (mine === undefined) return false;
      const equal = equals(mine, item);
      if (equal !== true) return equal;
    }
    return true;
  }

  #addToSet(items: Value[], other: ListValue): void {
    const known = new Set(items.map(textOf));
    for (const item of itemsOf(other)) {
      if (known.has(textOf(item))) continue;
      known.add(textOf(item));
      items.push(item);
    }
  }

  #addByKey(items: Value[], other: ListValue): void {
    const positions = new Map(items.map((item, index) => [this.#keyOf(item), index]));
    for (const item of itemsOf(other)) {
      const position = positions.get(this.#keyOf(item));
      if (position === undefined) items.push(item);
      else items[position] = item;
    }
  }

  #keyOf(item: Value): string {
    const keys = this.#schemas.schema['x-kubernetes-list-map-keys'] ?? [];
    if (!isMap(item)) return textOf(item);
    return keys.map((key) => textOf(item.find(escapeProperty(key) ?? key) ?? null)).join('\u0000');
  }
}

/** Equal texts mean equal scalars. */
function textOf(value: Value): string {
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value)
    : `${typeof value}:${String(value)}`;
}
