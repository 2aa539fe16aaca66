import type { Container, EphemeralContainer, PodSpec, Volume } from '../../../../../kube/api/stored/core.ts';

/** Drops the fields of feature gates that are off by default in Kubernetes 1.36, as kube-apiserver does. */
export function dropDisabledFields(spec: PodSpec): void {
  delete spec.schedulingGroup;
  for (const volume of spec.volumes ?? []) dropProjections(volume);
  for (const container of spec.initContainers ?? []) dropStopSignal(container);
  for (const container of spec.containers ?? []) dropStopSignal(container);
  for (const container of spec.ephemeralContainers ?? []) dropStopSignal(container);
}

/** Fields of ClusterTrustBundleProjection and PodCertificateRequest. */
function dropProjections({ projected }: Volume): void {
  for (const source of projected?.sources ?? []) {
    delete source.clusterTrustBundle;
    delete source.podCertificate;
  }
}

/** The field of ContainerStopSignals. */
function dropStopSignal(container: Container | EphemeralContainer): void {
  if (container.lifecycle?.stopSignal === undefined) return;
  delete container.lifecycle.stopSignal;
  if (!container.lifecycle.postStart && !container.lifecycle.preStop) delete container.lifecycle;
}
