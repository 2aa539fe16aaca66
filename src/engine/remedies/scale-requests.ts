import type { Container, Pod, PodSpec, ResourceRequirements } from '../../kube/api/core.ts';
import { podRequests } from '../../kube/quantities/pod-requests.ts';
import { amountsOf, quantitiesOf } from '../../kube/quantities/resource-amounts.ts';
import { nonNullItems } from '../records/field-readers.ts';
import { amountOf, resourceQuantity } from './amounts.ts';

/**
 * Scales all requests of the pod for one resource in proportion, so that it requests exactly `total`. What rounding removes is added to
 * one container.
 */
export function scaleRequests(pod: Pod, resource: string, total: number): Pod {
  const spec = pod.spec ?? {};
  const overhead = totalOf({ overhead: spec.overhead ?? {} }, resource);
  const before = totalOf(spec, resource) - overhead;
  if (before <= 0) return pod;
  const scale = (amount: number) => (amount * (total - overhead)) / before;
  const scaled = withRequests(spec, resource, (amount) => Math.floor(scale(amount)));
  const lost = total - totalOf(scaled, resource);
  return { ...pod, spec: lost > 0 ? withMore(scaled, resource, lost) : scaled };
}

type Change = (amount: number) => number;

function withRequests(spec: PodSpec, resource: string, change: Change): PodSpec {
  const ofContainer = (container: Container): Container => ({
    ...container,
    ...changedResources(container.resources, resource, change),
  });
  return {
    ...spec,
    containers: nonNullItems(spec.containers).map(ofContainer),
    ...(spec.initContainers && { initContainers: nonNullItems(spec.initContainers).map(ofContainer) }),
    ...changedResources(spec.resources, resource, change),
  };
}

function changedResources(
  resources: ResourceRequirements | undefined,
  resource: string,
  change: Change,
): { readonly resources?: ResourceRequirements } {
  const requests = resources?.requests;
  if (requests === undefined || !Object.hasOwn(requests, resource)) return {};
  const amount = amountOf(amountsOf(quantitiesOf(requests)), resource);
  return {
    resources: {
      ...resources,
      requests: { ...requests, [resource]: resourceQuantity(resource, change(amount)) },
    },
  };
}

/** Adds to the pod-level request if there is one, else to the first container that requests the resource. */
function withMore(spec: PodSpec, resource: string, more: number): PodSpec {
  const whole = changedResources(spec.resources, resource, (amount) => amount + more);
  if (whole.resources !== undefined) return { ...spec, ...whole };
  const containers = nonNullItems(spec.containers);
  const chosen = containers.find(({ resources }) => Object.hasOwn(resources?.requests ?? {}, resource));
  return {
    ...spec,
    containers: containers.map((container) =>
      container === chosen
        ? { ...container, ...changedResources(container.resources, resource, (amount) => amount + more) }
        : container,
    ),
  };
}

function totalOf(spec: PodSpec, resource: string): number {
  return amountOf(podRequests(spec), resource);
}
