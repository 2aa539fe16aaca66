/**
 * Volume binding as a library, for schedulers of one's own: check, prioritize, assume, bind.
 *
 * ```ts
 * const binding = await VolumeBinding.connect({ kubeconfig });
 * const fitting = binding.prioritize(pod, nodes);        // nodes that the pod's volumes admit, the best first
 * const assumed = binding.assume(pod, fitting[0].node);  // from here on nobody else is offered these volumes
 * await assumed.bind();                                  // all volumes bound, then the pod; or everything given back
 * ```
 */

export { BindFailure } from '../bind/bind-failure.ts';
export { MissingPermission as MissingRight } from '../bind/missing-permission.ts';
export type { Cluster, ResourceClient } from '../cluster/cluster.ts';
export type { NodeAssessment as NodeAnswer, NodeRefusal } from '../engine/assess.ts';
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
