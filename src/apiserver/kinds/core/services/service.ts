import type { Service, ServicePort, ServiceSpec } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, labelsCell, nameColumn, noneCell, unknownCell } from '../../table-cells.ts';
import { allocateService } from './service-allocation.ts';
import {
  isExternallyReachable,
  isHeadless,
  needsClusterIp,
  needsHealthPort,
  needsNodePorts,
} from './service-traits.ts';
import { checkService, checkServiceStatus, checkServiceUpdate } from './service-validation.ts';

export const serviceKind: ServedKind<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  type: 'core/v1.Service',
  nameRule: nameRules.dnsLabel,
  hasStatus: true,
  hasGeneration: false,
  returnsDeletedObject: true,
  createOnUpdate: true,

  defaults: defaultService,
  prepareCreate(service) {
    service.status = { loadBalancer: {} };
    const { spec } = service;
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  },
  prepareUpdate(service, old) {
    keepAllocated(service, old);
    matchClusterIps(service, old);
    service.status = old.status;
    dropForeignFields(service, old);
  },
  allocate: allocateService,
  validate: (service, errors) => checkService(service, undefined, errors),
  validateUpdate: checkServiceUpdate,
  validateStatus: checkServiceStatus,
  warnings: serviceWarnings,

  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '',
    'spec.type': ({ spec }) => spec.type ?? '',
  },
  columns: [
    nameColumn,
    { name: 'Type', type: 'string' },
    { name: 'Cluster-IP', type: 'string' },
    { name: 'External-IP', type: 'string' },
    { name: 'Port(s)', type: 'string' },
    ageColumn,
    { name: 'Selector', type: 'string', priority: 1 },
  ],
  row(service, context) {
    const { spec } = service;
    return [
      service.metadata.name ?? '',
      spec.type ?? '',
      spec.clusterIPs?.[0] ?? noneCell,
      externalIpCell(service),
      spec.ports?.map(portText).join(',') || noneCell,
      age(service, context),
      labelsCell(spec.selector),
    ];
  },
};

const affinitySeconds = 10_800;

function defaultService(service: Service): void {
  const { spec } = service;
  defaultAffinity(spec);
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternallyReachable(service)) spec.externalTrafficPolicy ||= 'Cluster';
  if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of service.status.loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
}

function defaultAffinity(spec: ServiceSpec): void {
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
}

/** An update without the allocated addresses and ports keeps them. */
function keepAllocated(service: Service, old: Service): void {
  const { spec } = service;
  if (needsClusterIp(service) && needsClusterIp(old)) {
    spec.clusterIP ||= old.spec.clusterIP;
    if (!spec.clusterIPs?.length && old.spec.clusterIPs?.length) spec.clusterIPs = [...old.spec.clusterIPs];
    spec.ipFamilyPolicy ??= old.spec.ipFamilyPolicy;
  }
  if (needsNodePorts(service) && needsNodePorts(old)) keepNodePorts(spec.ports ?? [], old.spec.ports ?? []);
  if (needsHealthPort(service) && needsHealthPort(old)) {
    spec.healthCheckNodePort ||= old.spec.healthCheckNodePort;
  }
}

/** Ports are matched by name. */
function keepNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): void {
  const used = new Set(ports.map(({ nodePort }) => nodePort).filter(Boolean));
  for (const port of ports) {
    const before = old.find(({ name = '' }) => name === (port.name ?? ''))?.nodePort;
    if (!port.nodePort && before && !used.has(before)) port.nodePort = before;
  }
}

/** Clients may know, and change, only the older of the two fields. */
function matchClusterIps({ spec }: Service, { spec: old }: Service): void {
  if ((spec.clusterIP ?? '') === (old.clusterIP ?? '')) return;
  if (!isSemanticallyEqual(spec.clusterIPs, old.clusterIPs)) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/** If the type changes, drops the fields that only the old type had, unless the update changes them too. */
function dropForeignFields(service: Service, old: Service): void {
  const { spec } = service;
  if (needsClusterIp(old) && !needsClusterIp(service)) {
    if (spec.clusterIP === old.spec.clusterIP && isSemanticallyEqual(spec.clusterIPs, old.spec.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    for (const name of ['ipFamilies', 'ipFamilyPolicy'] as const) {
      if (isSemanticallyEqual(spec[name], old.spec[name])) delete spec[name];
    }
  }
  if (needsNodePorts(old) && !needsNodePorts(service) && hasOnlyOldPorts(spec, old.spec)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthPort(old) && !needsHealthPort(service)) dropSame(spec, old.spec, 'healthCheckNodePort');
  if (old.spec.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    dropSame(spec, old.spec, 'allocateLoadBalancerNodePorts');
    dropSame(spec, old.spec, 'loadBalancerClass');
  }
  if (isExternallyReachable(old) && !isExternallyReachable(service)) {
    dropSame(spec, old.spec, 'externalTrafficPolicy');
  }
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
  if (spec.type !== 'LoadBalancer') service.status = { ...service.status, loadBalancer: {} };
}

type Droppable =
  | 'healthCheckNodePort'
  | 'allocateLoadBalancerNodePorts'
  | 'loadBalancerClass'
  | 'externalTrafficPolicy';

function dropSame(spec: ServiceSpec, old: ServiceSpec, name: Droppable): void {
  if (spec[name] === old[name]) delete spec[name];
}

function hasOnlyOldPorts(spec: ServiceSpec, old: ServiceSpec): boolean {
  const before = new Set(old.ports?.map(({ nodePort }) => nodePort));
  return spec.ports?.every(({ nodePort }) => !nodePort || before.has(nodePort)) ?? true;
}

function serviceWarnings(service: Service): readonly string[] {
  const { metadata, spec } = service;
  const hasExternalIps = Boolean(spec.externalIPs?.length);
  const isName = spec.type === 'ExternalName';
  const hintsKey = 'service.kubernetes.io/topology-aware-hints';
  const ignored = 'is ignored for headless services';
  const candidates: readonly (readonly [applies: boolean, text: string])[] = [
    [
      metadata.annotations?.[hintsKey] !== undefined,
      `annotation ${hintsKey} is deprecated, please use service.kubernetes.io/topology-mode instead`,
    ],
    [isHeadless(service) && Boolean(spec.loadBalancerIP), `spec.loadBalancerIP ${ignored}`],
    [isHeadless(service) && hasExternalIps, `spec.externalIPs ${ignored}`],
    [isHeadless(service) && spec.sessionAffinity !== 'None', `spec.SessionAffinity ${ignored}`],
    [
      hasExternalIps && !isHeadless(service) && !isName,
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
    [isName && hasExternalIps, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [
      !isName && Boolean(spec.externalName),
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
    [
      spec.trafficDistribution === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ];
  return candidates.filter(([applies]) => applies).map(([, text]) => text);
}

function externalIpCell({ spec, status }: Service): string {
  const { externalIPs = [] } = spec;
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || noneCell;
    case 'LoadBalancer': {
      const ingress = status.loadBalancer.ingress?.map(({ ip, hostname }) => ip || hostname || '') ?? [];
      const known = [...new Set(ingress.filter((text) => text !== ''))].sort();
      return [...known, ...externalIPs].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return unknownCell;
  }
}

/** For example `80:30123/TCP`. */
function portText({ port, nodePort, protocol }: ServicePort): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
}
