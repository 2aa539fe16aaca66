import type { Service, ServicePort, SessionAffinityConfig } from '../../../../kube/api/stored/core.ts';
import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import { checkRequiredEnum, checkSupported } from '../../../validation/enums.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkCidr, checkIp } from '../../../validation/ip-address.ts';
import { checkLabels } from '../../../validation/labels.ts';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from '../../../validation/names.ts';
import { checkReachableIp } from './endpoint-address.ts';
import { protocols } from './endpoints.ts';
import { checkClusterIps, checkClusterIpsUpdate } from './service-cluster-ips.ts';
import { isExternallyReachable, isHeadless, needsHealthPort } from './service-traits.ts';

export function checkService(service: Service, old: Service | undefined, errors: FieldErrors): void {
  const { spec } = service;
  checkTopologyAnnotations(service, errors);
  checkPorts(service, errors);
  checkLabels(errors, 'spec.selector', spec.selector);
  checkAffinity(service, errors);
  checkClusterIps(service, old, errors);
  checkExternalIps(service, old, errors);
  checkRequiredEnum(errors, 'spec.type', spec.type, [
    'ClusterIP',
    'ExternalName',
    'LoadBalancer',
    'NodePort',
  ]);
  checkNodePorts(service, errors);
  checkSourceRanges(service, old, errors);
  checkLoadBalancer(service, errors);
  checkTraffic(service, errors);
}

export function checkServiceUpdate(service: Service, old: Service, errors: FieldErrors): void {
  checkClusterIpsUpdate(service, old, errors);
  const { loadBalancerClass, healthCheckNodePort } = service.spec;
  const areBalancers = [service, old].every(({ spec }) => spec.type === 'LoadBalancer');
  if (areBalancers && loadBalancerClass !== old.spec.loadBalancerClass) {
    errors.invalid('spec.loadBalancerClass', loadBalancerClass, 'may not change once set');
  }
  checkLoadBalancerClass(service, errors);
  const needPorts = needsHealthPort(service) && needsHealthPort(old);
  if (needPorts && healthCheckNodePort !== old.spec.healthCheckNodePort) {
    errors.forbidden('spec.healthCheckNodePort', 'field is immutable');
  }
  checkService(service, old, errors);
}

export function checkServiceStatus({ spec, status }: Service, old: Service, errors: FieldErrors): void {
  const field = 'status.loadBalancer.ingress';
  const ingress = status.loadBalancer.ingress ?? [];
  if (spec.type !== 'LoadBalancer' && ingress.length > 0) {
    errors.forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const oldIps = old.status.loadBalancer.ingress?.map(({ ip = '' }) => ip) ?? [];
  ingress.forEach(({ ip = '', ipMode, hostname = '' }, index) => {
    const at = `${field}[${index}]`;
    if (ip !== '') checkIp(errors, `${at}.ip`, ip, oldIps);
    if (ipMode === undefined) {
      if (ip !== '') errors.required(`${at}.ipMode`, 'must be specified when `ip` is set');
    } else if (ip === '') errors.forbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set');
    else checkSupported(errors, `${at}.ipMode`, ipMode, ['Proxy', 'VIP']);
    if (hostname === '') return;
    errors.invalidFor(`${at}.hostname`, hostname, dnsSubdomainProblems(hostname));
    if (ipFamilyOf(hostname) !== undefined) {
      errors.invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address');
    }
  });
}

const hintsKey = 'service.kubernetes.io/topology-aware-hints';
const modeKey = 'service.kubernetes.io/topology-mode';
const sourceRangesKey = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const affinitySecondsMax = 86_400;
const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

function checkTopologyAnnotations({ metadata }: Service, errors: FieldErrors): void {
  const { [hintsKey]: hints, [modeKey]: mode } = metadata.annotations ?? {};
  if (hints !== undefined && mode !== undefined && hints !== mode) {
    const detail = `must match annotations[${hintsKey}] when both are specified`;
    errors.invalid(`metadata.annotations[${modeKey}]`, mode, detail);
  }
}

function checkPorts(service: Service, errors: FieldErrors): void {
  const { type = '', ports = [] } = service.spec;
  if (ports.length === 0 && !isHeadless(service) && type !== 'ExternalName') errors.required('spec.ports');
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(service)) {
    errors.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`);
  }
  if (type === 'ExternalName') checkExternalName(service, errors);
  const names = new Set<string>();
  ports.forEach((port, index) => {
    checkPort(port, `spec.ports[${index}]`, [names, ports.length > 1], errors);
  });
}

function checkExternalName({ spec }: Service, errors: FieldErrors): void {
  const detail = 'may not be set for ExternalName services';
  if (spec.clusterIPs?.length) errors.forbidden('spec.clusterIPs', detail);
  if (spec.ipFamilies?.length) errors.forbidden('spec.ipFamilies', detail);
  if (spec.ipFamilyPolicy !== undefined) errors.forbidden('spec.ipFamilyPolicy', detail);
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.required('spec.externalName');
  else errors.invalidFor('spec.externalName', name, dnsSubdomainProblems(name));
}

function checkPort(
  { name = '', port, protocol, targetPort, appProtocol }: ServicePort,
  field: string,
  [names, needsName]: readonly [names: Set<string>, needsName: boolean],
  errors: FieldErrors,
): void {
  if (name === '') {
    if (needsName) errors.required(`${field}.name`);
  } else {
    errors.invalidFor(`${field}.name`, name, dnsLabelProblems(name));
    if (names.has(name)) errors.duplicate(`${field}.name`, name);
    names.add(name);
  }
  errors.invalidFor(`${field}.port`, port, portNumberProblems(port));
  checkRequiredEnum(errors, `${field}.protocol`, protocol, protocols);
  const target =
    typeof targetPort === 'number' ? portNumberProblems(targetPort) : portNameProblems(targetPort);
  errors.invalidFor(`${field}.targetPort`, targetPort, target);
  if (appProtocol !== undefined) {
    errors.invalidFor(`${field}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
  }
}

function checkAffinity({ spec }: Service, errors: FieldErrors): void {
  const { sessionAffinity, sessionAffinityConfig } = spec;
  checkRequiredEnum(errors, 'spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  const field = 'spec.sessionAffinityConfig';
  if (sessionAffinity === 'ClientIP') checkAffinityConfig(sessionAffinityConfig, field, errors);
  else if (sessionAffinity === 'None' && sessionAffinityConfig) {
    errors.forbidden(field, 'must not be set when session affinity is None');
  }
}

function checkAffinityConfig(
  config: SessionAffinityConfig | undefined,
  field: string,
  errors: FieldErrors,
): void {
  const detail = 'when session affinity type is ClientIP';
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) errors.required(field, detail);
  else if (!config.clientIP) errors.required(`${field}.clientIP`, detail);
  else if (seconds === undefined) errors.required(`${field}.clientIP.timeoutSeconds`, detail);
  else if (seconds <= 0 || seconds > affinitySecondsMax) {
    const bounds = `must be greater than 0 and less than ${affinitySecondsMax}`;
    errors.invalid(`${field}.clientIP.timeoutSeconds`, seconds, bounds);
  }
}

function checkExternalIps({ spec }: Service, old: Service | undefined, errors: FieldErrors): void {
  spec.externalIPs?.forEach((ip, index) => {
    const before = errors.count;
    checkIp(errors, `spec.externalIPs[${index}]`, ip, old?.spec.externalIPs);
    if (errors.count === before) checkReachableIp(errors, `spec.externalIPs[${index}]`, ip);
  });
}

function checkNodePorts({ spec }: Service, errors: FieldErrors): void {
  const ports = spec.ports ?? [];
  ports.forEach(({ nodePort }, index) => {
    if (spec.type === 'ClusterIP' && nodePort) {
      errors.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
  });
  const nodePorts = new Set<string>();
  ports.forEach(({ nodePort, protocol }, index) => {
    const key = `${protocol}/${nodePort}`;
    if (nodePort && nodePorts.has(key)) errors.duplicate(`spec.ports[${index}].nodePort`, nodePort);
    nodePorts.add(key);
  });
  const seen = new Set<string>();
  ports.forEach(({ port, protocol = '' }, index) => {
    const key = `${protocol}/${port}`;
    if (seen.has(key)) errors.duplicate(`spec.ports[${index}]`, shownPort(port, protocol));
    seen.add(key);
  });
}

/** The port as kube-apiserver prints it in errors: with Go field names. */
function shownPort(port: number, protocol: string): object {
  return { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

function checkSourceRanges(service: Service, old: Service | undefined, errors: FieldErrors): void {
  const { type, loadBalancerSourceRanges: ranges = [] } = service.spec;
  const annotation = service.metadata.annotations?.[sourceRangesKey];
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges';
    if (type !== 'LoadBalancer') errors.forbidden(field, onlyForLoadBalancers);
    const kept = new Set(old?.spec.loadBalancerSourceRanges?.map((range) => range.trim()));
    ranges.forEach((range, index) => {
      if (!kept.has(range.trim())) checkCidr(errors, `${field}[${index}]`, range.trim());
    });
  } else if (annotation !== undefined) {
    const field = `metadata.annotations[${sourceRangesKey}]`;
    if (type !== 'LoadBalancer') errors.forbidden(field, onlyForLoadBalancers);
    if (annotation.trim() === '' || annotation === old?.metadata.annotations?.[sourceRangesKey]) return;
    for (const range of annotation.split(',')) checkCidr(errors, field, range.trim());
  }
}

function checkLoadBalancer(service: Service, errors: FieldErrors): void {
  const { type, allocateLoadBalancerNodePorts } = service.spec;
  if (allocateLoadBalancerNodePorts !== undefined && type !== 'LoadBalancer') {
    errors.forbidden('spec.allocateLoadBalancerNodePorts', onlyForLoadBalancers);
  }
  if (allocateLoadBalancerNodePorts === undefined && type === 'LoadBalancer') {
    errors.required('allocateLoadBalancerNodePorts');
  }
  checkLoadBalancerClass(service, errors);
}

function checkLoadBalancerClass({ spec }: Service, errors: FieldErrors): void {
  const { type, loadBalancerClass } = spec;
  if (loadBalancerClass === undefined) return;
  if (type !== 'LoadBalancer') errors.forbidden('spec.loadBalancerClass', onlyForLoadBalancers);
  else {
    const problems = qualifiedNameProblems(loadBalancerClass);
    errors.invalidFor('spec.loadBalancerClass', loadBalancerClass, problems);
  }
}

function checkTraffic(service: Service, errors: FieldErrors): void {
  const { type = '', externalTrafficPolicy, internalTrafficPolicy, trafficDistribution } = service.spec;
  if (isExternallyReachable(service)) {
    checkRequiredEnum(errors, 'spec.externalTrafficPolicy', externalTrafficPolicy, ['Cluster', 'Local']);
  } else if (externalTrafficPolicy) {
    const detail = 'may only be set for externally-accessible services';
    errors.invalid('spec.externalTrafficPolicy', externalTrafficPolicy, detail);
  }
  checkHealthPort(service, errors);
  const hasInternalTraffic = ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(type);
  if (internalTrafficPolicy !== undefined) {
    checkSupported(errors, 'spec.internalTrafficPolicy', internalTrafficPolicy, ['Cluster', 'Local']);
  } else if (hasInternalTraffic) errors.required('spec.internalTrafficPolicy');
  if (trafficDistribution !== undefined) {
    const supported = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
    checkSupported(errors, 'spec.trafficDistribution', trafficDistribution, supported);
  }
}

function checkHealthPort(service: Service, errors: FieldErrors): void {
  const field = 'spec.healthCheckNodePort';
  const port = service.spec.healthCheckNodePort ?? 0;
  if (!needsHealthPort(service)) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (port !== 0) errors.invalid(field, port, detail);
  } else if (port === 0) errors.required(field);
  else errors.invalidFor(field, port, portNumberProblems(port));
}
