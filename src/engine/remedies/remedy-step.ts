import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { Kind } from '../cluster-index/cluster-change.ts';
import type { ObjectOf } from '../cluster-index/read-object.ts';

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
  /** What else there is to say of it, for people: the label that another takes the place of, who owns a pod that goes. */
  readonly remarks?: readonly string[];
  readonly edits: readonly Edit[];
  /** The same with another amount, for steps whose amount is free. */
  readonly withAmount?: (amount: number) => Step;
}

export interface ObjectName {
  readonly kind: string;
  readonly name: string;
}

export type StepUnit = 'bytes' | 'millicores' | 'units' | 'changes' | 'pods';

/** How the cluster and the pod are changed. Changes are made to what is there by then, so that steps can follow each other. */
export type Edit =
  | { readonly type: 'create'; readonly kind: Kind; readonly object: KubeObject }
  | {
      readonly type: 'change';
      readonly kind: Kind;
      readonly key: string;
      readonly change: (object: KubeObject) => KubeObject;
    }
  | { readonly type: 'remove pod'; readonly key: string }
  | { readonly type: 'change pod'; readonly change: (pod: Pod) => Pod };

/**
 * What each sort costs, for ordering: to wait takes nothing but time, something new disturbs nobody, a change to an object of the cluster is its owner's to make,
 * pods and claims have to be made anew to ask for something else, and a removed pod is somebody's workload. Several steps add up.
 */
export const stepCosts = {
  AwaitPods: 5,
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

export function changing<K extends Kind>(
  kind: K,
  key: string,
  change: (object: ObjectOf[K]) => ObjectOf[K],
): Edit {
  // Safe: the trial hands it the object of this kind.
  return { type: 'change', kind, key, change: (object) => change(object as ObjectOf[K]) };
}
