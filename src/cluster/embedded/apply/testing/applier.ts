import type { Random } from '../../../../runtime/random.ts';
import { parseFieldSet } from '../../managed-fields/field-set.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../patch/json-value.ts';
import type { Shape, StructShape } from '../../patch/shape.ts';
import { shapeOf } from '../../patch/type-shapes.ts';
import { normalize, zeroObject } from '../../schema/normalize.ts';
import { type Applied, applyConfiguration } from '../apply-configuration.ts';
import { elementOf } from '../list-elements.ts';
import { type RandomKind, randomMetadata } from './random-kinds.ts';

/** One object and those who apply to it, without a server: nothing is defaulted, nothing is refused but for conflicts. */
export class Applier {
  readonly shape: StructShape;
  readonly #kind: RandomKind;
  readonly #type: string;
  #live: JsonObject;

  constructor(kind: RandomKind) {
    this.#kind = kind;
    this.#type = `${kind.apiVersion.includes('/') ? kind.apiVersion : `core/${kind.apiVersion}`}.${kind.kind}`;
    this.shape = shapeOf(this.#type);
    this.#live = this.#typed(zeroObject(this.#type) as JsonObject);
  }

  get live(): JsonObject {
    return this.#live;
  }

  apply(manager: string, config: JsonObject, force = true): Applied {
    const applied = applyConfiguration({
      live: this.#live,
      config,
      shape: this.shape,
      manager,
      apiVersion: this.#kind.apiVersion,
      subresource: '',
      time: '2026-01-31T12:00:00Z',
      force,
    });
    const object = this.#typed(applied.object ?? this.#live);
    const metadata = {
      ...(object.metadata as JsonObject),
      managedFields: (applied.owners ?? []) as unknown as Json,
    };
    this.#live = { ...object, metadata };
    return applied;
  }

  /**
   * A whole configuration or a part of one. Without anything empty: a struct that is named but empty goes along with its last
   * field, as with Kubernetes, and is there again when it is applied once more.
   */
  draw(random: Random): JsonObject {
    const { whole, part } = this.#kind;
    const body = (random.next() < 0.5 ? whole : part)(random) as JsonObject;
    return withoutEmpties({
      ...this.bare,
      metadata: randomMetadata(random) as JsonObject,
      ...body,
    }) as JsonObject;
  }

  /** Says nothing but what it is. */
  get bare(): JsonObject {
    return { apiVersion: this.#kind.apiVersion, kind: this.#kind.kind };
  }

  /** What everybody owns, by name. */
  get owners(): ReadonlyMap<string, unknown> {
    const { managedFields } = this.#live.metadata as {
      managedFields?: readonly { manager: string; fieldsV1: unknown }[];
    };
    return new Map((managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, parseFieldSet(fieldsV1)]));
  }

  /** The object without its owners, its lists in an order that does not depend on who came first. */
  get unordered(): Json {
    const { managedFields: _, ...metadata } = this.#live.metadata as JsonObject;
    return sorted({ ...this.#live, metadata }, this.shape);
  }

  #typed(object: JsonObject): JsonObject {
    return { ...(normalize(this.#type, object).object as JsonObject), ...this.bare };
  }
}

function withoutEmpties(value: Json): Json | undefined {
  if (typeof value !== 'object') return value;
  if (value === null || Object.keys(value).length === 0) return undefined;
  if (isArray(value)) return value.map(withoutEmpties).filter((item) => item !== undefined);
  const kept = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpties(inner)] as const)
    .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function sorted(value: Json, shape: Shape | undefined): Json {
  if (isArray(value) && shape?.kind === 'list' && shape.relation !== 'atomic') {
    const elements = value.map((item) => [elementOf(item, shape), sorted(item, shape.element)] as const);
    return elements.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  }
  if (!isObject(value) || shape?.kind !== 'struct') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, sorted(inner, shape.fields.get(name)?.shape)]),
  );
}
