import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ObjectOf } from '../cluster-index/read-object.ts';

/**
 * One change to the cluster or to the pod that could help. It is a suggestion until a plan has shown that the pod fits with it.
 * `action` and `scope` together say what kind of change it is; of each kind only the smallest is reported.
 */
export interface RemedyStep {
  readonly action: RemedyAction;
  /** The object of the action, if that distinguishes steps: a resource, a claim, a topology key. Empty otherwise. */
  readonly scope: string;
  readonly object: ObjectName;
  /** The size of the change, in `unit`. */
  readonly amount: number;
  readonly unit: RemedyUnit;
  /** The value before and after the change, if there is one. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The taints, labels, pods or other names that the change concerns. */
  readonly names: readonly string[];
  /** Remarks for users: the label that is replaced, the owner of a pod that is removed. */
  readonly remarks?: readonly string[];
  /** Added to the cost of the action if users prefer another one. */
  readonly extraCost?: number;
  readonly edits: readonly RemedyEdit[];
  /** The same step with another amount, for steps whose amount is free. */
  readonly withAmount?: (amount: number) => RemedyStep;
  /** How many times the change is made; once if absent. */
  readonly count?: number;
  /** The same change several times, for steps that create something which several pods can use. */
  readonly repeated?: (count: number) => RemedyStep;
}

export interface ObjectName {
  readonly kind: string;
  readonly name: string;
}

export type RemedyUnit = 'bytes' | 'millicores' | 'units' | 'changes' | 'pods';

/** How the cluster or the pod changes. An edit applies to the objects as they are at that point, so that steps can follow each other. */
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
 * The cost of each action, for ordering. Waiting costs only time. Creating something disturbs no workload. Changing an object of the
 * cluster needs its owner. Pods and claims have to be recreated to request something else. Removing a pod stops a workload. The costs of
 * several steps add up.
 */
export const actionCosts = {
  WaitForPods: 5,
  CreateVolume: 10,
  StartNodeService: 11,
  AddDrive: 12,
  CreateNode: 15,
  UncordonNode: 20,
  UncordonDrive: 20,
  RemoveTaint: 20,
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
  // A label says where a node and its volumes are: other pods and drivers rely on it.
  LabelNode: 35,
  RemovePods: 100,
} as const;

export type RemedyAction = keyof typeof actionCosts;

/** Each removed pod costs; any other action costs once. */
export function stepCost({ action, amount, extraCost = 0 }: RemedyStep): number {
  return (action === 'RemovePods' ? actionCosts[action] * amount : actionCosts[action]) + extraCost;
}

/** A volume by hand for a class whose provisioner makes volumes is the last resort among changes that stop no workload. */
export const volumeBesideProvisionerCost = 25;

/** The cluster's objects as the API server returns them: an index keeps only what it decides by. */
export interface ObjectSource {
  get<K extends IndexedKind>(kind: K, key: string): ObjectOf[K] | undefined;
}

/** The name of the pod's required node affinity in `names` of the action DropNodeSelector. */
export const requiredNodeAffinity = 'required node affinity';

export function changing<K extends IndexedKind>(
  kind: K,
  key: string,
  change: (object: ObjectOf[K]) => ObjectOf[K],
): RemedyEdit {
  // Safe: `WhatIf` passes the object of this kind.
  return { type: 'change', kind, key, change: (object) => change(object as ObjectOf[K]) };
}
