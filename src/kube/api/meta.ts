/**
 * What every Kubernetes object carries. The types describe the wire as we may meet it, not as a
 * validating server would have left it: a field is optional wherever JSON may omit it, `metadata` included.
 */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: Timestamp;
  readonly deletionTimestamp?: Timestamp;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly selfLink?: string;
}

export interface KubeList<T extends KubeObject> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ListMeta;
  readonly items?: readonly T[];
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Points at an object of any kind; a PV's claimRef and an Event's subject are of this type. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

export interface Condition {
  readonly type?: string;
  readonly status?: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: Timestamp;
  readonly reason?: string;
  readonly message?: string;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key?: string;
  readonly operator?: LabelSelectorOperator;
  readonly values?: readonly string[];
}

export type LabelSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

/** Who owns which field, for server-side apply; `fieldsV1` stays opaque outside the code that applies. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: Timestamp;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** RFC 3339 text such as `2026-01-31T12:00:00Z`; MicroTime fields carry six fractional digits. */
export type Timestamp = string;

export type StringMap = Readonly<Record<string, string>>;

/** A quantity as it stands on the wire. YAML turns an unquoted `10` into a number. */
export type QuantityText = string | number;

export type ResourceList = Readonly<Record<string, QuantityText>>;

/** A port or a percentage may be given by number or by name. */
export type IntOrString = number | string;
