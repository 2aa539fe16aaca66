import type { KubeObject } from '../../kube/api/meta.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ObjectOf } from '../cluster-index/read-object.ts';

/** One change to a cluster whose effect is predicted. */
export type WhatIfChange =
  /** The node takes no new pods, and its pods leave it, as kubectl drain does it. */
  | { readonly kind: 'drain-node'; readonly node: string }
  /** The drive takes no new volumes, and its volumes are copied to others. */
  | { readonly kind: 'drain-drive'; readonly drive: string }
  | { readonly kind: 'add-nodes'; readonly count: number; readonly like: string }
  | {
      readonly kind: 'add-drive';
      readonly node: string;
      readonly bytes: number;
      readonly tier: string | undefined;
    }
  | { readonly kind: 'scale'; readonly workload: WorkloadReference; readonly replicas: number }
  /** Objects as a user would apply them: created, or in place of those of the same name. */
  | { readonly kind: 'apply'; readonly objects: readonly KubeObject[] };

export interface WorkloadReference {
  readonly kind: 'StatefulSet' | 'Deployment' | 'ReplicaSet';
  readonly namespace: string;
  readonly name: string;
}

/** The cluster's objects as the API server returns them: an index keeps only what it decides by. */
export interface WhatIfObjects {
  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined;
  values<K extends IndexedKind>(kind: K): Iterable<ObjectOf[K]>;
}

/** A change that cannot be made: it names what does not exist. The message names the object and the remedy. */
export class WhatIfError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WhatIfError';
  }
}
