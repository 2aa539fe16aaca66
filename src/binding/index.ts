/**
 * Volume binding as a library, for custom schedulers: check, prioritize, assume, bind.
 *
 * ```ts
 * const binding = await VolumeBinding.connect({ kubeconfig });
 * const fitting = binding.prioritize(pod, nodes);        // the nodes that the pod's volumes admit, best first
 * const assumed = binding.assume(pod, fitting[0].node);  // from here on no other pod is offered these volumes
 * await assumed.bind();                                  // binds all volumes, then the pod; or reverts everything
 * ```
 */

export { BindFailure } from '../bind/bind-failure.ts';
export { MissingPermission } from '../bind/missing-permission.ts';
export type { Cluster, ResourceClient } from '../cluster/cluster.ts';
export type { NodeAssessment, NodeRefusal } from '../engine/assess.ts';
export { ApiError } from '../kube/api-error.ts';
export {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../kube/resources.ts';
export {
  AssumedPod,
  AssumeError,
  type ConnectOptions,
  type NodeScore,
  VolumeBinding,
  type VolumeBindingOptions,
} from './volume-binding.ts';
