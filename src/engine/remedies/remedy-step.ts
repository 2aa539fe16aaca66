import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ObjectOf } from '../cluster-index/read-object.ts';

/**
 * One change to the cluster or to the pod that could help. It is a suggestion until a plan has said that the pod fits with it.
 * `sort` and `scope` together say what kind of change it is: of those only the smallest is worth telling.
 */
export interface RemedyStep {
  readonly action: RemedyAction;
  /** What of its sort is changed: a resource, a claim, a class; empty where there is nothing to tell apart. */
  readonly scope: string;
  readonly object: ObjectName;
  /** How much of a change it is, in the units of `unit`. */
  readonly amount: number;
  readonly unit: RemedyUnit;
  /** What stands there now and what would, where there is something to compare. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Names that the change is about: taints, labels, pods. */
  readonly names: readonly string[];
  /** What else there is to say of it, for people: the label that another takes the place of, who owns a pod that goes. */
  readonly remarks?: readonly string[];
  readonly edits: readonly RemedyEdit[];
  /** The same with another amount, for steps whose amount is free. */
  readonly withAmount?: (amount: number) => RemedyStep;
}

export interface ObjectName {
  readonly kind: string;
  readonly name: string;
}

export type RemedyUnit = 'bytes' | 'millicores' | 'units' | 'changes' | 'pods';

/** How the cluster and the pod are changed. Changes are made to what is there by then, so that steps can follow each other. */
export type RemedyEdit =
  | { readonly type: 'create'; readonly kind: IndexedKind; readonly object: KubeObject }
  | {
      readonly type: 'change';
      readonly kind: IndexedKind;
      readonly key: string;
      readonly change: (object: KubeObject) => KubeObject;
    }
  | { readonly type: 'remove pod'; readonly key: string }
  | { readonly type: 'change pod'; readonly change: (pod: Pod) => Pod };

/**
 * What each sort costs, for ordering: to wait takes nothing but time, something new disturbs nobody, a change to an object of the cluster is its owner's to make,
 * pods and claims have to be made anew to ask for something else, and a removed pod is somebody's workload. Several steps add up.
 */
export const actionCosts = {
  WaitForPods: 5,
  CreateVolume: 10,
  CreateNode: 15,
  UncordonNode: 20,
  RemoveTaint: 20,
  LabelNode: 20,
  GrowPool: 20,
  ClearClaimRef: 20,
  AllowTopology: 20,
  InstallDriver: 20,
  UnpinClaim: 20,
  GrowNode: 25,
  TolerateTaint: 30,
  DropNodeSelector: 30,
  ReduceRequests: 30,
  ShrinkClaim: 30,
  RaiseMaxSkew: 30,
  DropAffinity: 30,
  DropAntiAffinity: 30,
  RemovePods: 100,
} as const;

export type RemedyAction = keyof typeof actionCosts;

/** A removed pod costs each time; everything else once. */
export function stepCost({ action, amount }: RemedyStep): number {
  return action === 'RemovePods' ? actionCosts[action] * amount : actionCosts[action];
}

/** The objects of the cluster as they stand on the wire: an index keeps only what it decides by. */
export interface ObjectSource {
  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined;
}

export function changing<K extends IndexedKind>(
  kind: K,
  key: string,
  change: (object: ObjectOf[K]) => ObjectOf[K],
): RemedyEdit {
  // Safe: the whatIf hands it the object of this kind.
  return { type: 'change', kind, key, change: (object) => change(object as ObjectOf[K]) };
}
