import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withoutNulls,
} from '../../../kube/go/json-value.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import { parseFieldSet } from '../../managed-fields/field-set.ts';
import { listElement } from '../../managed-fields/list-elements.ts';
import { type MergeShape, type StructShape, shapeOfField } from '../../patch/merge-shape.ts';
import { schemaShape } from '../../patch/schema-shapes.ts';
import { shapeOfType } from '../../patch/type-shapes.ts';
import { normalize, zeroObject } from '../../schema/normalize.ts';
import { type ApplyResult, applyConfiguration } from '../apply-configuration.ts';
import { type RandomKind, randomMetadata } from './random-kinds.ts';
import { randomCustomSchema } from './random-schemas.ts';
import { type Draw, either } from './random-values.ts';

/** The kind of the object that an {@link Applier} has. */
export interface AppliedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly shape: StructShape;
  /** Draws the fields beside the metadata. */
  readonly draw: Draw;
  typed(object: JsonObject): JsonObject;
  zero(): JsonObject;
}

export function builtInKind({ apiVersion, kind, whole, part }: RandomKind): AppliedKind {
  const type = `${apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`}.${kind}`;
  return {
    apiVersion,
    kind,
    shape: shapeOfType(type),
    draw: either(whole, part),
    typed: (object) => normalize(type, object).object as JsonObject,
    zero: () => zeroObject(type) as JsonObject,
  };
}

/** A custom kind with a schema that depends on the seed. */
export function appliedCustomKind(seed: number): AppliedKind {
  const { schema, draw } = randomCustomSchema(seededRandom(seed));
  return {
    apiVersion: 'x.io/v1',
    kind: 'Thing',
    shape: schemaShape(schema, 'Thing'),
    draw,
    typed: (object) => ({ metadata: {}, ...(withoutNulls(object) as JsonObject) }),
    zero: () => ({ metadata: {} }),
  };
}

/** One object and its appliers, without a server: nothing is defaulted, and only conflicts are refused. */
export class Applier {
  readonly #kind: AppliedKind;
  #live: JsonObject;

  constructor(kind: AppliedKind) {
    this.#kind = kind;
    this.#live = this.#typed(kind.zero());
  }

  get shape(): StructShape {
    return this.#kind.shape;
  }

  get live(): JsonObject {
    return this.#live;
  }

  apply(manager: string, config: JsonObject, force = true): ApplyResult {
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
   * A whole configuration or a part of one, without empty values: as in Kubernetes, a struct that is named but empty is
   * removed with its last field, and exists again after the next apply.
   */
  draw(random: Random): JsonObject {
    const body = this.#kind.draw(random) as JsonObject;
    return withoutEmpties({
      ...this.typeMeta,
      metadata: randomMetadata(random) as JsonObject,
      ...body,
    }) as JsonObject;
  }

  /** Only apiVersion and kind. */
  get typeMeta(): JsonObject {
    return { apiVersion: this.#kind.apiVersion, kind: this.#kind.kind };
  }

  /** The field set of each manager, by its name. */
  get owners(): ReadonlyMap<string, unknown> {
    const { managedFields } = this.#live.metadata as {
      managedFields?: readonly { manager: string; fieldsV1: unknown }[];
    };
    return new Map((managedFields ?? []).map(({ manager, fieldsV1 }) => [manager, parseFieldSet(fieldsV1)]));
  }

  /** The object without its owners, with lists in an order that does not depend on the order of the applies. */
  get unordered(): Json {
    const { managedFields: _, ...metadata } = this.#live.metadata as JsonObject;
    return sorted({ ...this.#live, metadata }, this.shape);
  }

  #typed(object: JsonObject): JsonObject {
    return { ...this.#kind.typed(object), ...this.typeMeta };
  }
}

function withoutEmpties(value: Json): Json | undefined {
  if (typeof value !== 'object') return value;
  if (value === null || Object.keys(value).length === 0) return undefined;
  if (isJsonArray(value)) return value.map(withoutEmpties).filter((item) => item !== undefined);
  const kept = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpties(inner)] as const)
    .filter((entry): entry is readonly [string, Json] => entry[1] !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function sorted(value: Json, shape: MergeShape | undefined): Json {
  if (isJsonArray(value) && shape?.kind === 'list' && shape.relation !== 'atomic') {
    const elements = value.map((item) => [listElement(item, shape), sorted(item, shape.element)] as const);
    return elements.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  }
  if (!isJsonObject(value) || (shape?.kind !== 'struct' && shape?.kind !== 'map')) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, sorted(inner, shapeOfField(shape, name))]),
  );
}
