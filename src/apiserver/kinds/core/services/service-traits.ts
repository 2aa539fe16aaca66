import type { Service } from '../../../../kube/api/stored/core.ts';

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
}

/** Services that are but another name have no address of their own. */
export function needsClusterIp({ spec }: Service): boolean {
  return spec.type !== 'ExternalName';
}

export function needsNodePorts({ spec }: Service): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Load balancers ask nodes whether they have pods of the service only where that makes a difference. */
export function needsHealthPort({ spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isExternallyReachable(service: Service): boolean {
  const { type, externalIPs = [] } = service.spec;
  return needsNodePorts(service) || (type === 'ClusterIP' && externalIPs.length > 0);
}
