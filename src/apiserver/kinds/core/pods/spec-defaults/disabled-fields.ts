import type { Container, EphemeralContainer, PodSpec, Volume } from '../../../../../kube/api/stored/core.ts';

/**
 * Drops the fields of features that Kubernetes 1.36 has behind switches that are off by default: a server that ignores
 * them says so by not storing them.
 */
export function dropDisabledFields(spec: PodSpec): void {
  delete spec.schedulingGroup;
  for (const volume of spec.volumes ?? []) dropProjections(volume);
  for (const container of spec.initContainers ?? []) dropStopSignal(container);
  for (const container of spec.containers ?? []) dropStopSignal(container);
  for (const container of spec.ephemeralContainers ?? []) dropStopSignal(container);
}

/** ClusterTrustBundleProjection and PodCertificateRequest. */
function dropProjections({ projected }: Volume): void {
  for (const source of projected?.sources ?? []) {
    delete source.clusterTrustBundle;
    delete source.podCertificate;
  }
}

/** ContainerStopSignals. */
function dropStopSignal(container: Container | EphemeralContainer): void {
  if (container.lifecycle?.stopSignal === undefined) return;
  delete container.lifecycle.stopSignal;
  if (!container.lifecycle.postStart && !container.lifecycle.preStop) delete container.lifecycle;
}
