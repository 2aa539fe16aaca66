import type { Service, ServicePort } from '../../../../kube/api/stored/core.ts';
import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkClusterIps } from './service-cluster-ips.ts';
import { isHeadless, needsClusterIp, needsHealthPort, needsNodePorts } from './service-traits.ts';

/** The ranges of cluster IPs and node ports. IPv4 only. */
export interface ServiceRange {
  /** The first two numbers of all addresses. */
  readonly prefix: string;
  readonly portMin: number;
  readonly portMax: number;
}

const defaultServiceRange: ServiceRange = { prefix: '10.96', portMin: 30_000, portMax: 32_767 };

/**
 * Allocates the cluster IP and the node ports of a service: an admission step between `prepareCreate` or
 * `prepareUpdate` and `validate`. `others` are all other services. Allocates the lowest free number, so that runs are
 * reproducible; Kubernetes picks at random. If `errors` is not empty afterwards, the request is refused with them
 * alone: Kubernetes allocates before it validates.
 */
export function allocateService(
  service: Service,
  others: Iterable<Service>,
  errors: FieldErrors,
  range: ServiceRange = defaultServiceRange,
): void {
  if (!needsClusterIp(service)) return;
  const before = errors.count;
  resolveIpFamilies(service, errors);
  if (errors.count > before) return;
  const taken = takenBy(others);
  allocateIp(service, taken.ips, errors, range);
  if (errors.count > before) return;
  if (needsNodePorts(service)) allocateNodePorts(service, taken.ports, errors, range);
  if (needsHealthPort(service) && errors.count === before) allocateHealthPort(service, taken.ports, range);
}

/** The cluster IP of the API server's own service. */
export function apiServerIp({ prefix }: ServiceRange = defaultServiceRange): string {
  return `${prefix}.0.1`;
}

const ipCount = 65_536;

interface Taken {
  readonly ips: ReadonlySet<string>;
  readonly ports: Set<string>;
}

/** Ports of different protocols do not conflict. */
function takenBy(services: Iterable<Service>): Taken {
  const ips = new Set<string>();
  const ports = new Set<string>();
  for (const { spec } of services) {
    for (const ip of spec.clusterIPs ?? []) ips.add(ip);
    for (const { nodePort, protocol } of spec.ports ?? [])
      if (nodePort) ports.add(portKey(nodePort, protocol));
    if (spec.healthCheckNodePort) ports.add(portKey(spec.healthCheckNodePort, 'TCP'));
  }
  return { ips, ports };
}

function portKey(port: number, protocol = 'TCP'): string {
  return `${protocol}/${port}`;
}

/** Headless services without a selector may have both families, whatever the cluster supports. */
function resolveIpFamilies(service: Service, errors: FieldErrors): void {
  const { spec } = service;
  const isHeadlessWithoutSelector =
    spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= isHeadlessWithoutSelector ? 'RequireDualStack' : 'SingleStack';
  const before = errors.count;
  checkClusterIps(service, undefined, errors);
  if (errors.count > before) return;
  checkSingleStack(service, errors);
  const families = spec.ipFamilies ?? [];
  if (isHeadlessWithoutSelector) {
    const [first = 'IPv4'] = families;
    const both = first === 'IPv4' ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4'];
    spec.ipFamilies = spec.ipFamilyPolicy === 'SingleStack' || families.length > 1 ? families : both;
    if (spec.ipFamilies.length === 0) spec.ipFamilies = [first];
    return;
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail);
  }
  families.forEach((family, index) => {
    if (family !== 'IPv4') {
      errors.invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster');
    }
  });
  if (families.length === 0) spec.ipFamilies = ['IPv4'];
}

function checkSingleStack({ spec }: Service, errors: FieldErrors): void {
  const field = 'spec.ipFamilyPolicy';
  const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (spec.clusterIPs?.length === 2) {
      errors.invalid(field, spec.ipFamilyPolicy, `${detail} cluster IPs are specified`);
    }
    if (spec.ipFamilies?.length === 2) {
      errors.invalid(field, spec.ipFamilyPolicy, `${detail} IP families are specified`);
    }
  }
  spec.clusterIPs?.forEach((ip, index) => {
    if (ipFamilyOf(ip) === 6 && index >= (spec.ipFamilies?.length ?? 0)) {
      errors.invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, 'IPv6 is not configured on this cluster');
    }
  });
}

function allocateIp(
  service: Service,
  taken: ReadonlySet<string>,
  errors: FieldErrors,
  range: ServiceRange,
): void {
  const { spec } = service;
  if (isHeadless(service)) return;
  const requested = spec.clusterIPs?.[0];
  if (requested !== undefined) {
    const problem = requestedIpProblem(requested, taken, range);
    if (problem === undefined) return;
    errors.invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${requested}: ${problem}`);
    return;
  }
  const ip = firstFreeIp(taken, range);
  if (ip === undefined) errors.internal('spec.clusterIPs', 'failed to allocate a serviceIP: range is full');
  else {
    spec.clusterIP = ip;
    spec.clusterIPs = [ip];
  }
}

function requestedIpProblem(
  ip: string,
  taken: ReadonlySet<string>,
  { prefix }: ServiceRange,
): string | undefined {
  if (!ip.startsWith(`${prefix}.`)) {
    return `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${prefix}.0.0/16`;
  }
  return taken.has(ip) ? 'provided IP is already allocated' : undefined;
}

/** Neither the first nor the last address, and not that of the API server. */
function firstFreeIp(taken: ReadonlySet<string>, { prefix }: ServiceRange): string | undefined {
  for (let number = 2; number < ipCount - 1; number++) {
    const ip = `${prefix}.${number >> 8}.${number & 255}`;
    if (!taken.has(ip)) return ip;
  }
  return undefined;
}

/** Ports with the same number and different protocols share one node port. */
function allocateNodePorts(
  { spec }: Service,
  taken: Set<string>,
  errors: FieldErrors,
  range: ServiceRange,
): void {
  const ports = spec.ports ?? [];
  const byPort = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && spec.type === 'LoadBalancer' && !spec.allocateLoadBalancerNodePorts) continue;
    const shared = byPort.get(port.port);
    const requested = port.nodePort || shared || requestedNodePort(ports, port.port);
    const problem =
      requested && requested !== shared ? requestedPortProblem(requested, port, taken, range) : undefined;
    if (problem !== undefined) {
      errors.invalid(`spec.ports[${index}].nodePort`, requested, problem);
      return;
    }
    port.nodePort = requested || firstFreePort(taken, ports, range);
    byPort.set(port.port, port.nodePort);
    taken.add(portKey(port.nodePort, port.protocol));
  }
}

function requestedNodePort(ports: readonly ServicePort[], port: number): number | undefined {
  return ports.find((one) => one.port === port && one.nodePort)?.nodePort;
}

function requestedPortProblem(
  port: number,
  { protocol }: ServicePort,
  taken: ReadonlySet<string>,
  { portMin, portMax }: ServiceRange,
): string | undefined {
  if (port < portMin || port > portMax) {
    return `provided port is not in the valid range. The range of valid ports is ${portMin}-${portMax}`;
  }
  return taken.has(portKey(port, protocol)) ? 'provided port is already allocated' : undefined;
}

/** Skips the ports that the service itself requests. */
function firstFreePort(
  taken: ReadonlySet<string>,
  ports: readonly ServicePort[],
  { portMin, portMax }: ServiceRange,
): number {
  const isTaken = (port: number) =>
    ports.some(({ nodePort }) => nodePort === port) ||
    ['TCP', 'UDP', 'SCTP'].some((protocol) => taken.has(portKey(port, protocol)));
  let port = portMin;
  while (port < portMax && isTaken(port)) port++;
  return port;
}

function allocateHealthPort({ spec }: Service, taken: ReadonlySet<string>, range: ServiceRange): void {
  spec.healthCheckNodePort ||= firstFreePort(taken, spec.ports ?? [], range);
}
