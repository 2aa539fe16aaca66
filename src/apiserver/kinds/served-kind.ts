import type { ObjectMeta } from '../../kube/api/stored/meta.ts';
import type { StructShape } from '../patch/shape.ts';
import type { Typed } from '../schema/object-form.ts';
import type { FieldErrors } from '../validation/field-errors.ts';

/**
 * A kind that the embedded server serves, described once. The registry, discovery, OpenAPI, tables and the command line all
 * read this description; adding a kind is adding a file with one of these.
 *
 * Objects reach these functions in their stored form: typed, without unknown fields, quantities and times canonical.
 * `defaults` and the `prepare` functions change the object in place; it is a copy of their own. Nothing in here awaits,
 * and nothing throws on an object that has its types right.
 *
 * A write runs: decode, `defaults`, admission, `prepareCreate` or `prepareUpdate`, `allocate`, `validate` or `validateUpdate`.
 * A write to /status runs `prepareStatus` and `validateStatus` instead.
 */
export interface ServedKind<T extends StoredObject = StoredObject> extends Typed {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** How its objects merge, where that is in no table. */
  readonly shape?: StructShape;
  /** The same in its other versions, served or not, by apiVersion; for those who wrote through them. */
  readonly shapeOfVersion?: (apiVersion: string) => StructShape | undefined;
  /** Which names objects may have; it says what is wrong, in Kubernetes' words. */
  readonly nameRule: NameRule;
  /** Finalizers need no domain: custom resources and their definitions, and where Kubernetes forgets to look. */
  readonly allowsAnyFinalizer?: boolean;
  /** Besides `status` and `scale`, which follow from `hasStatus` and `scale`. */
  readonly subresources?: readonly Subresource[];
  readonly hasStatus: boolean;
  readonly scale?: ScaleRule<T>;
  /** Whether `metadata.generation` counts changes of what the user asked for. */
  readonly hasGeneration: boolean;
  /** PUT of a name that does not exist creates it; so does a write to its status. */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion is refused. */
  readonly requiresResourceVersion?: boolean;
  /** Dependents of a deleted object are orphaned unless the caller says otherwise. */
  readonly orphansByDefault?: boolean;
  /** What a deletion that does not choose is told about that. */
  readonly orphanWarning?: string;
  /** Nothing can depend on it, so no deletion waits for dependents: Events. */
  readonly hasNoDependents?: boolean;
  /** DELETE answers with the last state of the object, not with a Status. */
  readonly returnsDeletedObject?: boolean;
  /** What everybody is warned of who asks for it, also only to read. */
  readonly deprecation?: string;
  /** Shares the storage of another kind, in that kind's form. */
  readonly storedAs?: StoredAs<T>;
  /** Its definition was made at run time, and may change or go. */
  readonly definition?: KindDefinition<T>;

  defaults?(object: T): void;
  /** Drops what a creator may not set, such as status. */
  prepareCreate?(object: T, moment: Moment): void;
  /** Restores what this write may not change, such as status. The generation is the registry's. */
  prepareUpdate?(object: T, old: T, moment: Moment): void;
  /** Restores what a write to /status may not change. By default: everything but status and metadata. */
  prepareStatus?(object: T, old: T, moment: Moment): void;
  /** Restores all but the finalizers of the spec: /finalize of namespaces. */
  prepareFinalize?(object: T, old: T): void;
  /** Whether the change moves the generation. By default: when something besides metadata and status changed. */
  incrementsGeneration?(object: T, old: T): boolean;
  /**
   * Gives the object what no other may have, such as a service's address, after it is prepared and before it is checked. `others`
   * are all of its kind but itself. What it complains about is the answer.
   */
  allocate?(object: T, others: Iterable<T>, errors: FieldErrors): void;
  validate(object: T, errors: FieldErrors): void;
  validateUpdate?(object: T, old: T, errors: FieldErrors): void;
  validateStatus?(object: T, old: T, errors: FieldErrors): void;
  /** Of a write to /finalize. */
  validateFinalize?(object: T, errors: FieldErrors): void;
  /** The kind ends in steps of its own: marks the object when its deletion begins. Namespaces. */
  beginDeletion?(object: T): void;
  /** A deleted object without finalizers stays all the same: a namespace whose spec still has some. */
  blocksRemoval?(object: T): boolean;
  /** Advice for the writer, sent as Warning headers. */
  warnings?(object: T, old: T | undefined): readonly string[];
  /** Seconds of grace that a deletion gives; 0 removes at once. Left out: always 0. */
  graceSeconds?(object: T, requested: number | undefined): number;

  /** Fields that selectors may name besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** What is said about a selector that names another field. By default: `field label not supported: spec.x`. */
  unknownFieldMessage?(field: string): string;
  readonly columns: readonly TableColumn[];
  /** One cell for each column. */
  row(object: T, context: RowContext): readonly TableCell[];
  /** What programs should know about a row, besides its cells; undefined for nothing. */
  rowConditions?(object: T): readonly RowCondition[] | undefined;
}

/** A kind among others. Safe because the registry hands a kind objects of that kind only. */
export function anyKind<T extends StoredObject>(kind: ServedKind<T>): ServedKind {
  return kind as unknown as ServedKind;
}

export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Undefined where the name is fine, else what is wrong with it; more than one complaint is possible. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export interface Subresource {
  readonly name: string;
  /** Of the body: `ClaimBinding`, `ExpectedEviction` of `policy/v1`. */
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  /** In the API tables. */
  readonly type: string;
  readonly verbs: readonly RequestVerb[];
}

export type RequestVerb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

export interface ScaleRule<T> {
  /** Where the number stands that is wanted. By default: `.spec.replicas`. */
  readonly replicasPath?: string;
  /** What the scale says. */
  read(object: T): ScaleValues;
  write(object: T, replicas: number): void;
}

export interface ScaleValues {
  /** Undefined where the object does not say. */
  readonly desired: number | undefined;
  readonly current: number;
  /** Of the pods, as text. */
  readonly selector: string;
}

export interface StoredAs<T> {
  /** The kind that owns the storage, as `Event`. */
  readonly kind: string;
  readonly group: string;
  toStored(object: T): StoredObject;
  fromStored(object: StoredObject): T;
}

/** What is different about a kind that somebody has defined while the server runs. */
export interface KindDefinition<T> {
  readonly listKind: string;
  /** Its schema, as OpenAPI publishes it. */
  readonly publishedSchema: Readonly<Record<string, unknown>>;
  /** What is asked before objects are made: a definition that is being deleted takes no more of them. */
  refusesCreation(): boolean;
  /** The object as the version has it in which all are stored; the same one, perhaps changed, for that version itself. */
  toStored?(object: T): T;
  /**
   * A stored object as this version shows it today. It may be older than the schema: without some defaults, and with what is no
   * longer known. The same object where nothing is to be changed.
   */
  fromStored(object: T): T;
}

export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'number' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only by `-o wide`. */
  readonly priority?: number;
}

export type TableCell = string | number | boolean | null;

export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** When something happens: for timestamps and ages. */
export interface Moment {
  readonly nowMs: number;
}

export type RowContext = Moment;
