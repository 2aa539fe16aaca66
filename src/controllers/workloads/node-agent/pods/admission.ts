import type { ContainerPort, Node, Pod } from '../../../../kube/api/core.ts';
import { compileNodeSelector, matchesNode } from '../../../../kube/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../../../kube/selectors/tolerations.ts';
import { type ResourceShortage, shortageOf } from './resource-shortage.ts';

/** Why a node permanently rejects a pod: the pod has failed. */
export interface AdmissionFailure {
  readonly reason: string;
  readonly message: string;
}

/**
 * Whether the node admits the pod in addition to the others that it has admitted, in the order of a kubelet's checks. A scheduler has
 * checked the same; this catches what it did not know, and pods that were bound without one. The first failure is reported.
 */
export function admissionFailure(pod: Pod, node: Node, others: readonly Pod[]): AdmissionFailure | undefined {
  const shortage = shortageOf(pod, node, others);
  if (shortage !== undefined) return outOf(shortage);
  if (!isWanted(pod, node))
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  if (!hasFreePorts(pod, others))
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  if (findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoExecute']) !== undefined)
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  return undefined;
}

function outOf({ resource, requested, used, capacity }: ResourceShortage): AdmissionFailure {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
}

function failed(predicate: string, why: string): AdmissionFailure {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` };
}

function isWanted({ spec }: Pod, { metadata }: Node): boolean {
  const labels = metadata?.labels ?? {};
  const isSelected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return isSelected && (!required || matchesNode(compileNodeSelector(required), metadata?.name, labels));
}

function hasFreePorts(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return true;
  const taken = others.flatMap(hostPortsOf);
  return !wanted.some((port) => taken.some((other) => isSamePort(port, other)));
}

/** Returns the host ports of the containers that run as long as the pod does. */
function hostPortsOf({ spec }: Pod): readonly ContainerPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...(spec?.containers ?? [])]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

/** A port on all addresses conflicts with the same port on any of them. */
function isSamePort(one: ContainerPort, other: ContainerPort): boolean {
  const [address, otherAddress] = [one.hostIP || everywhere, other.hostIP || everywhere];
  const isSameAddress = address === otherAddress || address === everywhere || otherAddress === everywhere;
  const isSameProtocol = (one.protocol || 'TCP') === (other.protocol || 'TCP');
  return isSameAddress && isSameProtocol && one.hostPort === other.hostPort;
}

const everywhere = '0.0.0.0';
