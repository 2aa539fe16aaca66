import type { Container, EphemeralContainer, PodSpec } from '../../../../kube/api/stored/core.ts';

export type AnyContainer = Container | EphemeralContainer;

/** Visits every container with its path, in Kubernetes' order, which is the order in which they start. */
export function eachContainer(
  spec: PodSpec,
  path: string,
  visit: (container: AnyContainer, path: string) => void,
): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    spec[list]?.forEach((container, index) => {
      visit(container, `${path}.${list}[${index}]`);
    });
  }
}
