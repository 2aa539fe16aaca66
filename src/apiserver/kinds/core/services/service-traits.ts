import type { Service } from '../../../../kube/api/stored/core.ts';

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
}

/** Services of type ExternalName have no cluster IP. */
export function needsClusterIp({ spec }: Service): boolean {
  return spec.type !== 'ExternalName';
}

export function needsNodePorts({ spec }: Service): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Load balancers need the health check port only with `externalTrafficPolicy: Local`. */
export function needsHealthPort({ spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isExternallyReachable(service: Service): boolean {
  const { type, externalIPs = [] } = service.spec;
  return needsNodePorts(service) || (type === 'ClusterIP' && externalIPs.length > 0);
}
