// Generated from the Go types of Kubernetes; do not edit. To regenerate: npm run generate
// As read from any cluster or file: any field may be missing, nothing may be changed.

/**
 * The common fields of all Kubernetes objects. An object may have more fields than its type, and keeps them: our code must never
 * rebuild an object from the known fields.
 */
export interface KubeObject extends TypeMeta {
  readonly metadata?: ObjectMeta;
}

/** RFC 3339 text such as `2026-01-31T12:00:00Z`; MicroTime fields carry six fractional digits. */
export type Timestamp = string;

export type StringMap = Readonly<Record<string, string>>;

/** A quantity as JSON and YAML carry it. YAML turns an unquoted `10` into a number. */
export type QuantityText = string | number;

/** A port or a percentage may be given by number or by name. */
export type IntOrString = number | string;

/** A 64-bit integer: a bigint beyond 2^53, where a number would be rounded, and a number otherwise. */
export type Int64 = number | bigint;

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export type DeletionPropagation = 'Orphan' | 'Background' | 'Foreground';

export type LabelSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export type ManagedFieldsOperationType = 'Apply' | 'Update';

/** The machine-readable reasons; clients decide by them, so they are exact. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

export interface Condition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly observedGeneration?: Int64;
  readonly lastTransitionTime?: Timestamp | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface DeleteOptions {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly gracePeriodSeconds?: Int64;
  readonly preconditions?: Preconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: DeletionPropagation;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export interface FieldSelectorRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key?: string;
  readonly operator?: LabelSelectorOperator;
  readonly values?: readonly string[];
}

export interface ListMeta {
  readonly selfLink?: string;
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: Int64;
  readonly shardInfo?: ShardInfo;
}

/** The owners of fields, for server-side apply; `fieldsV1` is opaque outside of the code that applies. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: ManagedFieldsOperationType;
  readonly apiVersion?: string;
  readonly time?: Timestamp;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: Int64;
  readonly creationTimestamp?: Timestamp;
  readonly deletionTimestamp?: Timestamp;
  readonly deletionGracePeriodSeconds?: Int64;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface ShardInfo {
  readonly selector?: string;
}

/** The response of the API where there is no object: why a request failed, or that it succeeded. */
export interface Status extends TypeMeta {
  readonly metadata?: ListMeta;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural of the resource, or the kind where a whole object was refused. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface TypeMeta {
  readonly kind?: string;
  readonly apiVersion?: string;
}
