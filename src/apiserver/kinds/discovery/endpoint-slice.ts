import type {
  Endpoint,
  EndpointHints,
  EndpointPort,
  EndpointSlice,
} from '../../../kube/api/stored/discovery.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { formatIpAddress, ipFamilyOf, parseIpAddress } from '../../../kube/ip-address.ts';
import { checkRequiredEnum } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { checkIp } from '../../validation/ip-address.ts';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  nameRules,
  type Problems,
  qualifiedNameProblems,
} from '../../validation/names.ts';
import { checkReachableIp } from '../core/services/endpoint-address.ts';
import { protocols, truncatedCell } from '../core/services/endpoints.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn, unsetCell } from '../table-cells.ts';

export const endpointSliceKind: ServedKind<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
  type: 'discovery.k8s.io/v1.EndpointSlice',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: true,
  /** Labels count, because they say which service the endpoints belong to. */
  incrementsGeneration: (slice, old) =>
    !isSemanticallyEqual(contentOf(slice), contentOf(old)) ||
    !isSemanticallyEqual(slice.metadata.labels, old.metadata.labels),

  defaults({ ports }) {
    for (const port of ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  prepareCreate: dropTopology,
  prepareUpdate(slice, old) {
    if (!isSemanticallyEqual(slice.endpoints, old.endpoints)) dropTopology(slice);
  },
  validate(slice, errors) {
    checkAddressTypeAndPorts(slice, errors);
    checkEndpoints(slice, errors);
  },
  /** Unchanged endpoints stay valid, even if today's rules do not allow them. */
  validateUpdate(slice, old, errors) {
    checkAddressTypeAndPorts(slice, errors);
    if (!isSemanticallyEqual(slice.endpoints, old.endpoints)) checkEndpoints(slice, errors);
    checkImmutable(errors, 'addressType', slice.addressType, old.addressType);
  },
  warnings: ({ addressType }, old) =>
    !old && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],

  columns: [
    nameColumn,
    { name: 'AddressType', type: 'string' },
    { name: 'Ports', type: 'string' },
    { name: 'Endpoints', type: 'string' },
    ageColumn,
  ],
  row(slice, context) {
    const addresses = slice.endpoints?.flatMap((endpoint) => endpoint.addresses ?? []) ?? [];
    const ports = slice.ports?.map(({ port, name }) => String(port ?? name ?? '*')) ?? [];
    return [
      slice.metadata.name ?? '',
      slice.addressType,
      truncatedCell(ports) || unsetCell,
      truncatedCell(addresses) || unsetCell,
      age(slice, context),
    ];
  },
};

const endpointsMax = 1000;
const portsMax = 20_000;
const addressesMax = 100;
const hintsMax = 8;

function contentOf({ addressType, endpoints, ports }: EndpointSlice): object {
  return { addressType, endpoints, ports };
}

/** A field of the beta version, which v1 replaced by other fields. */
function dropTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

function checkAddressTypeAndPorts({ addressType, ports }: EndpointSlice, errors: FieldErrors): void {
  checkRequiredEnum(errors, 'addressType', addressType, ['FQDN', 'IPv4', 'IPv6']);
  checkPorts(ports ?? [], errors);
}

function checkPorts(ports: readonly EndpointPort[], errors: FieldErrors): void {
  if (ports.length > portsMax) {
    errors.tooMany('ports', ports.length, portsMax);
    return;
  }
  const seen = new Set<string>();
  ports.forEach(({ name = '', protocol, appProtocol }, index) => {
    const field = `ports[${index}]`;
    if (name !== '') errors.invalidFor(`${field}.name`, name, dnsLabelProblems(name));
    if (seen.has(name)) errors.duplicate(`${field}.name`, name);
    seen.add(name);
    if (protocol === undefined) errors.required(`${field}.protocol`);
    else if (!protocols.includes(protocol)) errors.notSupported(`${field}.protocol`, protocol, protocols);
    if (appProtocol !== undefined) {
      errors.invalidFor(`${field}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
    }
  });
}

function checkEndpoints({ addressType, endpoints }: EndpointSlice, errors: FieldErrors): void {
  const list = endpoints ?? [];
  if (list.length > endpointsMax) {
    errors.tooMany('endpoints', list.length, endpointsMax);
    return;
  }
  list.forEach((endpoint, index) => {
    checkEndpoint(endpoint, `endpoints[${index}]`, addressType, errors);
  });
}

function checkEndpoint(endpoint: Endpoint, field: string, addressType: string, errors: FieldErrors): void {
  const { hostname, nodeName, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  const at = `${field}.addresses`;
  if (addresses.length === 0) errors.required(at, 'must contain at least 1 address');
  else if (addresses.length > addressesMax) errors.tooMany(at, addresses.length, addressesMax);
  addresses.forEach((address, index) => {
    if (addressType === 'FQDN') checkDomain(errors, `${at}[${index}]`, address);
    if (addressType === 'IPv4' || addressType === 'IPv6') {
      checkAddress(errors, at, address, { index, family: addressType });
    }
  });
  if (nodeName !== undefined) {
    errors.invalidFor(`${field}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
  }
  if (hostname !== undefined) {
    errors.invalidFor(`${field}.hostname`, hostname, dnsLabelProblems(hostname));
  }
  if (hints) checkHints(hints, `${field}.hints`, errors);
}

function checkAddress(
  errors: FieldErrors,
  field: string,
  address: string,
  { index, family }: { readonly index: number; readonly family: 'IPv4' | 'IPv6' },
): void {
  const before = errors.count;
  checkIp(errors, `${field}[${index}]`, address);
  if (family === 'IPv6' && errors.count === before) checkCanonical(errors, `${field}[${index}]`, address);
  if (errors.count > before) return;
  if (ipFamilyOf(address) !== (family === 'IPv4' ? 4 : 6)) {
    errors.invalid(field, address, `must be an ${family} address`);
  }
  checkReachableIp(errors, `${field}[${index}]`, address);
}

/** Newer fields accept only the canonical form of an address. */
function checkCanonical(errors: FieldErrors, field: string, address: string): void {
  const parsed = parseIpAddress(address);
  if (typeof parsed === 'string') return;
  const canonical = formatIpAddress(parsed);
  if (canonical !== address) {
    errors.invalid(field, address, `must be in canonical form ("${canonical}")`);
  }
}

/** A trailing dot is allowed. */
function checkDomain(errors: FieldErrors, field: string, text: string): void {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (text === '') {
    errors.required(field);
    return;
  }
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) errors.invalid(field, name, problems.join(','));
  else if (!name.includes('.')) {
    errors.invalid(field, name, 'should be a domain with at least two segments separated by dots');
  }
}

function checkHints(
  { forZones = [], forNodes = [] }: EndpointHints,
  field: string,
  errors: FieldErrors,
): void {
  if (!checkHintNames(forZones, `${field}.forZones`, labelValueProblems, errors)) return;
  checkHintNames(forNodes, `${field}.forNodes`, dnsSubdomainProblems, errors);
}

/** Returns false if there are too many to check. */
function checkHintNames(
  hints: readonly { readonly name: string }[],
  field: string,
  problemsOf: (name: string) => Problems,
  errors: FieldErrors,
): boolean {
  if (hints.length > hintsMax) {
    errors.tooMany(field, hints.length, hintsMax);
    return false;
  }
  const seen = new Set<string>();
  hints.forEach(({ name }, index) => {
    if (seen.has(name)) errors.duplicate(`${field}[${index}].name`, name);
    seen.add(name);
    errors.invalidFor(`${field}[${index}].name`, name, problemsOf(name));
  });
  return true;
}
