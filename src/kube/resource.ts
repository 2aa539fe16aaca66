import type { KubeObject } from './api/meta.ts';

declare const objectType: unique symbol;

/** A collection that an API server serves, and the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural, as in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Whether a cluster may not serve it. Then there are no such objects, until the cluster serves it. */
  readonly isOptional?: boolean;
  /** Absent at run time; it only carries the type. */
  readonly [objectType]?: T;
}

/** Names one object of a resource. Objects of cluster-wide resources have no namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `v1` or `apps/v1`, as in `apiVersion`. */
export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `pods` or `statefulsets.apps`, as messages name a resource. */
export function qualifiedPlural({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** `Pod` or `StatefulSet.apps`, as messages name a kind. */
export function qualifiedKind({ group, kind }: Pick<Resource, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`;
}
