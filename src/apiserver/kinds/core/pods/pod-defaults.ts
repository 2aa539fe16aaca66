import type { Container, Pod, PodSpec, PodStatus } from '../../../../kube/api/stored/core.ts';
import { defaultRequests } from './pod-resources.ts';
import { defaultPodSpec } from './spec-defaults/pod-spec-defaults.ts';
import { dropInitContainerAnnotations } from './template-rules.ts';

/** Defaults that only pods get, in addition to those of templates. */
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

/** Sets host ports to container ports: a pod with `hostNetwork` uses ports of the node. */
function defaultHostPorts(spec: PodSpec): void {
  const defaultPorts = ({ ports }: Container): void => {
    for (const port of ports ?? []) port.hostPort ||= port.containerPort || undefined;
  };
  spec.containers?.forEach(defaultPorts);
  spec.initContainers?.forEach(defaultPorts);
}

/** Keeps `podIP` equal to the first of `podIPs`. If they differ, the older field, `podIP`, wins. */
function syncPodIp(status: PodStatus): void {
  const [first] = status.podIPs ?? [];
  if (status.podIP && status.podIP !== first?.ip) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first.ip;
}
