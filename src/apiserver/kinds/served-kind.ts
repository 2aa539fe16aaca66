import type { Int64, ObjectMeta } from '../../kube/api/stored/meta.ts';
import type { StructShape } from '../patch/merge-shape.ts';
import type { Typed } from '../schema/object-form.ts';
import type { FieldErrors } from '../validation/field-errors.ts';

/**
 * The description of a kind that the embedded server serves. The registry, discovery, OpenAPI, tables and the command
 * line read it; README.md says how to add one.
 *
 * Functions get objects in their stored form: typed, without unknown fields, with canonical quantities and times.
 * `defaults` and the `prepare` functions change the object in place; it is their own copy. No function is asynchronous,
 * and none throws if the object has the right types.
 *
 * The order of a write: decode, `defaults`, admission, `prepareCreate` or `prepareUpdate`, `allocate`, `validate` or
 * `validateUpdate`. A write to /status calls `prepareStatus` and `validateStatus` instead.
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
  /** How objects merge, for kinds that are not in the generated tables. */
  readonly shape?: StructShape;
  /** The merge shape of other versions, served or not, by apiVersion: managed fields may refer to them. */
  readonly shapeOfVersion?: (apiVersion: string) => StructShape | undefined;
  /** Validates the names of objects, with Kubernetes' messages. */
  readonly nameRule: NameRule;
  /**
   * Finalizers need no domain: custom resources, their definitions, and kinds for which Kubernetes does not check it.
   */
  readonly allowsAnyFinalizer?: boolean;
  /** Besides `status` and `scale`, which follow from `hasStatus` and `scale`. */
  readonly subresources?: readonly Subresource[];
  readonly hasStatus: boolean;
  readonly scale?: ScaleRule<T>;
  /** Whether `metadata.generation` counts changes of the desired state. */
  readonly hasGeneration: boolean;
  /** A PUT with a name that does not exist creates the object; so does a write to its status. */
  readonly createOnUpdate?: boolean;
  /** A PUT without a resourceVersion is refused. */
  readonly requiresResourceVersion?: boolean;
  /** Deletion orphans dependents unless the request says otherwise. */
  readonly orphansByDefault?: boolean;
  /** The warning for a deletion without a propagation policy. */
  readonly orphanWarning?: string;
  /** Nothing can depend on it, so no deletion waits for dependents: Events. */
  readonly hasNoDependents?: boolean;
  /** DELETE returns the last state of the object, not a Status. */
  readonly returnsDeletedObject?: boolean;
  /** A warning for every request, including reads. */
  readonly deprecation?: string;
  /** The kind shares the storage of another kind, in that kind's form. */
  readonly storedAs?: StoredAs<T>;
  /** Set for kinds of CustomResourceDefinitions, which may change or disappear. */
  readonly definition?: KindDefinition<T>;

  defaults?(object: T): void;
  /** Drops what a creation may not set, such as status. */
  prepareCreate?(object: T, moment: Moment): void;
  /** Restores what this write may not change, such as status. The registry sets the generation. */
  prepareUpdate?(object: T, old: T, moment: Moment): void;
  /** Restores what a write to /status may not change. Default: everything but status and metadata. */
  prepareStatus?(object: T, old: T, moment: Moment): void;
  /** Restores all but the finalizers of the spec: /finalize of namespaces. */
  prepareFinalize?(object: T, old: T): void;
  /** Whether the change increments the generation. Default: if anything besides metadata and status changed. */
  incrementsGeneration?(object: T, old: T): boolean;
  /**
   * Allocates what must be unique, such as a service's cluster IP, after the object is prepared and before it is
   * validated. `others` are all other objects of the kind. If it reports errors, the request is refused with them
   * alone.
   */
  allocate?(object: T, others: Iterable<T>, errors: FieldErrors): void;
  validate(object: T, errors: FieldErrors): void;
  validateUpdate?(object: T, old: T, errors: FieldErrors): void;
  validateStatus?(object: T, old: T, errors: FieldErrors): void;
  /** Validates a write to /finalize. */
  validateFinalize?(object: T, errors: FieldErrors): void;
  /** Called when the deletion of an object begins, for kinds with their own deletion steps: namespaces. */
  beginDeletion?(object: T): void;
  /** Whether a deleted object without finalizers must still be kept: a namespace with finalizers in its spec. */
  blocksRemoval?(object: T): boolean;
  /** Texts for Warning headers. */
  warnings?(object: T, old: T | undefined): readonly string[];
  /** The grace period of a deletion in seconds; 0 removes the object immediately. Default: always 0. */
  graceSeconds?(object: T, requested: Int64 | undefined): Int64;

  /** Fields for field selectors, besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;
  /** The error for a field selector with another field. Default: `field label not supported: spec.x`. */
  unknownFieldMessage?(field: string): string;
  readonly columns: readonly TableColumn[];
  /** One cell for each column. */
  row(object: T, context: RowContext): readonly TableCell[];
  /** Conditions of a table row, for programs. */
  rowConditions?(object: T): readonly RowCondition[] | undefined;
}

/** Removes the type parameter. Safe because the registry passes only objects of the kind to it. */
export function anyKind<T extends StoredObject>(kind: ServedKind<T>): ServedKind {
  return kind as unknown as ServedKind;
}

export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Returns the problems of a name; empty if it is valid. `isPrefix`: the name is a `generateName`. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export interface Subresource {
  readonly name: string;
  /** The kind of the body, such as `Binding` or `Eviction`. */
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  /** The name of the type in the generated API tables. */
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
  /** The path of the desired number. Default: `.spec.replicas`. */
  readonly replicasPath?: string;
  read(object: T): ScaleValues;
  write(object: T, replicas: number): void;
}

export interface ScaleValues {
  /** Undefined if the object does not specify it. */
  readonly desired: number | undefined;
  readonly current: number;
  /** The selector of the pods, as text. */
  readonly selector: string;
}

export interface StoredAs<T> {
  /** The kind that owns the storage, such as `Event`. */
  readonly kind: string;
  readonly group: string;
  toStored(object: T): StoredObject;
  fromStored(object: StoredObject): T;
}

/** What differs for a kind that a CustomResourceDefinition defines. */
export interface KindDefinition<T> {
  readonly listKind: string;
  /** The schema that OpenAPI publishes. */
  readonly publishedSchema: Readonly<Record<string, unknown>>;
  /** Whether creations are refused: true while the definition is being deleted. */
  refusesCreation(): boolean;
  /** Converts the object to the storage version. May change the object in place. */
  toStored?(object: T): T;
  /**
   * Converts a stored object to this version. The object may be older than the schema: it may lack defaults and contain
   * fields that are no longer specified. Returns the same object if nothing changes.
   */
  fromStored(object: T): T;
}

export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'number' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number;
}

export type TableCell = string | number | bigint | boolean | null;

export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** The current time, for timestamps and ages. */
export interface Moment {
  readonly nowMs: number;
}

export type RowContext = Moment;
