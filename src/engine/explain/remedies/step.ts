import type { Pod } from '../../../kube/core.ts';
import type { KubeObject } from '../../../kube/meta.ts';
import type { Kind } from '../../index/change.ts';
import type { ObjectOf } from '../../index/read-object.ts';

/**
 * One change to the cluster or to the pod that could help. It is a suggestion until a plan has said that the pod fits with it.
 * `sort` and `scope` together say what kind of change it is: of those only the smallest is worth telling.
 */
export interface Step {
  readonly sort: StepSort;
  /** What of its sort is changed: a resource, a claim, a class; empty where there is nothing to tell apart. */
  readonly scope: string;
  readonly object: ObjectName;
  /** How much of a change it is, in the units of `unit`. */
  readonly amount: number;
  readonly unit: StepUnit;
  /** What stands there now and what would, where there is something to compare. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Names that the change is about: taints, labels, pods. */
  readonly names: readonly string[];
  readonly edits: readonly Edit[];
  /** The same with another amount, for steps whose amount is free. */
  readonly withAmount?: (amount: number) => Step;
}

export interface ObjectName {
  readonly kind: string;
  readonly name: string;
}

export type StepUnit = 'bytes' | 'millicores' | 'units' | 'changes' | 'pods';

/** How an index and a pod are changed. Objects are whole, as they would stand in the cluster. */
export type Edit =
  | { readonly type: 'put'; readonly kind: Kind; readonly object: KubeObject }
  | { readonly type: 'remove pod'; readonly key: string }
  | { readonly type: 'change pod'; readonly pod: Pod };

/**
 * What each sort costs, for ordering: something new disturbs nobody, a change to an object of the cluster is its owner's to make,
 * pods and claims have to be made anew to ask for something else, and a removed pod is somebody's workload. Several steps add up.
 */
export const stepCosts = {
  CreateVolume: 10,
  CreateNode: 15,
  UncordonNode: 20,
  RemoveTaint: 20,
  LabelNode: 20,
  GrowPool: 20,
  FreeVolume: 20,
  AllowTopology: 20,
  InstallDriver: 20,
  UnpinClaim: 20,
  GrowNode: 25,
  TolerateTaint: 30,
  DropNodeSelector: 30,
  AskForLess: 30,
  ShrinkClaim: 30,
  RaiseMaxSkew: 30,
  DropAffinity: 30,
  DropAntiAffinity: 30,
  RemovePods: 100,
} as const;

export type StepSort = keyof typeof stepCosts;

/** A removed pod costs each time; everything else once. */
export function costOf({ sort, amount }: Step): number {
  return sort === 'RemovePods' ? stepCosts[sort] * amount : stepCosts[sort];
}

/** The objects of the cluster as they stand on the wire: an index keeps only what it decides by. */
export interface ObjectSource {
  get<K extends Kind>(kind: K, key: string): ObjectOf[K] | undefined;
}

export function put<K extends Kind>(kind: K, object: ObjectOf[K]): Edit {
  const { resourceVersion: _, ...metadata } = object.metadata ?? {};
  // Without a version the index takes it as news, whatever it knew before.
  return { type: 'put', kind, object: { ...object, metadata } };
}
