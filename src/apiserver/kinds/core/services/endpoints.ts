import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
} from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { checkRequiredEnum } from '../../../validation/enums.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkIp } from '../../../validation/ip-address.ts';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  nameRules,
  portNumberProblems,
  qualifiedNameProblems,
} from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn, noneCell } from '../../table-cells.ts';
import { checkReachableIp } from './endpoint-address.ts';

const deprecation = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';

export const endpointsKind: ServedKind<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  type: 'core/v1.Endpoints',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,
  deprecation,

  defaults({ subsets }) {
    for (const subset of subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP';
  },
  validate: checkEndpoints,
  /** Existing addresses stay valid, even if today's rules do not allow them. */
  validateUpdate(endpoints, old, errors) {
    if (!isSemanticallyEqual(endpoints.subsets, old.subsets)) checkEndpoints(endpoints, errors);
  },
  warnings: () => [deprecation],

  columns: [nameColumn, { name: 'Endpoints', type: 'string' }, ageColumn],
  row: (endpoints, context) => [
    endpoints.metadata.name ?? '',
    addressesCell(endpoints.subsets ?? []),
    age(endpoints, context),
  ],
};

const shownMax = 3;

/** For example `10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 4 more...`. */
function addressesCell(subsets: readonly EndpointSubset[]): string {
  if (subsets.length === 0) return noneCell;
  const texts = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) => addresses.map(({ ip }) => hostAndPort(ip, port))),
  );
  return truncatedCell(texts);
}

/** Also for endpoint slices. */
export function truncatedCell(texts: readonly string[]): string {
  const shown = texts.slice(0, shownMax).join(',');
  return texts.length > shownMax ? `${shown} + ${texts.length - shownMax} more...` : shown;
}

function hostAndPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function checkEndpoints({ subsets = [] }: Endpoints, errors: FieldErrors): void {
  subsets.forEach(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const field = `subsets[${index}]`;
    if (addresses.length + notReadyAddresses.length === 0) {
      errors.required(field, 'must specify `addresses` or `notReadyAddresses`');
    }
    addresses.forEach((address, at) => {
      checkAddress(errors, `${field}.addresses[${at}]`, address);
    });
    notReadyAddresses.forEach((address, at) => {
      checkAddress(errors, `${field}.notReadyAddresses[${at}]`, address);
    });
    ports.forEach((port, at) => {
      checkPort(errors, `${field}.ports[${at}]`, port, ports.length > 1);
    });
  });
}

function checkAddress(errors: FieldErrors, field: string, address: EndpointAddress): void {
  const { ip, hostname, nodeName } = address;
  checkIp(errors, `${field}.ip`, ip);
  if (hostname) errors.invalidFor(`${field}.hostname`, hostname, dnsLabelProblems(hostname));
  if (nodeName !== undefined) {
    errors.invalidFor(`${field}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
  }
  checkReachableIp(errors, `${field}.ip`, ip);
}

function checkPort(errors: FieldErrors, field: string, endpoint: EndpointPort, needsName: boolean): void {
  const { name = '', port, protocol, appProtocol } = endpoint;
  if (name !== '') errors.invalidFor(`${field}.name`, name, dnsLabelProblems(name));
  else if (needsName) errors.required(`${field}.name`);
  errors.invalidFor(`${field}.port`, port, portNumberProblems(port));
  checkRequiredEnum(errors, `${field}.protocol`, protocol, protocols);
  if (appProtocol !== undefined) {
    errors.invalidFor(`${field}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
  }
}

export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];
