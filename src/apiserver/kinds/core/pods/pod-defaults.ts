import type { Container, Pod, PodSpec, PodStatus } from '../../../../kube/api/stored/core.ts';
import { defaultRequests } from './pod-resources.ts';
import { defaultPodSpec } from './spec-defaults/pod-spec-defaults.ts';
import { dropInitContainerAnnotations } from './template-rules.ts';

/** A pod gets more than a template: what may only be made up when it is really there. */
export function defaultPod(pod: Pod): void {
  const { spec, status } = pod;
  dropInitContainerAnnotations(pod.metadata);
  defaultRequests(spec);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) defaultHostPorts(spec);
  defaultPodSpec(spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  if (status) syncPodIp(status);
}

/** In the network of its node, a pod's ports are the node's. */
function defaultHostPorts(spec: PodSpec): void {
  const defaultPorts = ({ ports }: Container): void => {
    for (const port of ports ?? []) port.hostPort ||= port.containerPort || undefined;
  };
  spec.containers?.forEach(defaultPorts);
  spec.initContainers?.forEach(defaultPorts);
}

/** `podIP` is the first of `podIPs`. Where they differ, the older field is right. */
function syncPodIp(status: PodStatus): void {
  const [first] = status.podIPs ?? [];
  if (status.podIP && status.podIP !== first?.ip) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first.ip;
}
