import type { Service } from '../../../../kube/api/stored/core.ts';
import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import { checkSupported } from '../../../validation/enums.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkIp } from '../../../validation/ip-address.ts';
import { isHeadless } from './service-traits.ts';

/** Checks that the cluster IPs, their families and the family policy of a service fit together. */
export function checkClusterIps(service: Service, old: Service | undefined, errors: FieldErrors): void {
  const { spec } = service;
  if (spec.type === 'ExternalName') return;
  checkFirst(service, errors);
  checkFamilies(spec.ipFamilies ?? [], errors);
  if (spec.ipFamilyPolicy !== undefined) {
    const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
    checkSupported(errors, 'spec.ipFamilyPolicy', spec.ipFamilyPolicy, policies);
  }
  const isReadable = checkEach(service, old, errors);
  if (isReadable) checkStacks(service, errors);
}

/** Cluster IPs are immutable, but a second one may be added and removed. */
export function checkClusterIpsUpdate(service: Service, old: Service, errors: FieldErrors): void {
  if (service.spec.type === 'ExternalName' || old.spec.type === 'ExternalName') return;
  checkKept(service, old, errors);
  if (!isHeadless(service) && !isHeadless(old)) checkFamiliesKept(service, old, errors);
}

const field = 'spec.clusterIPs';

/** `clusterIP` must equal the first of `clusterIPs`. */
function checkFirst({ spec }: Service, errors: FieldErrors): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  if (clusterIP !== '') {
    if (clusterIPs.length === 0) errors.required(field);
    else if (clusterIPs[0] !== clusterIP) {
      errors.invalid(field, clusterIPs, 'first value must match `clusterIP`');
    }
  } else if (clusterIPs.length > 0) {
    errors.invalid(field, clusterIPs, 'must be empty when `clusterIP` is not specified');
  }
}

function checkFamilies(families: readonly string[], errors: FieldErrors): void {
  const seen = new Set<string>();
  families.forEach((family, index) => {
    checkSupported(errors, `spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']);
    if (seen.has(family)) errors.duplicate(`spec.ipFamilies[${index}]`, family);
    seen.add(family);
  });
}

/** Returns false if one of them is not an address: further errors would only confuse. */
function checkEach({ spec }: Service, old: Service | undefined, errors: FieldErrors): boolean {
  const { clusterIPs = [] } = spec;
  const before = errors.count;
  clusterIPs.forEach((ip, index) => {
    if (index > 0 || ip !== 'None') checkIp(errors, `${field}[${index}]`, ip, old?.spec.clusterIPs);
    else if (clusterIPs.length > 1) {
      errors.invalid(field, clusterIPs, "'None' must be the first and only value");
    }
  });
  const isReadable = errors.count === before;
  if (clusterIPs.length > 2) errors.invalid(field, clusterIPs, 'may only hold up to 2 values');
  return isReadable;
}

function checkStacks(service: Service, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [] } = service.spec;
  const families = new Set(clusterIPs.map(ipFamilyOf));
  if (clusterIPs.length > 1 && families.size < 2) {
    errors.invalid(field, clusterIPs, 'may specify no more than one IP for each IP family');
  }
  if (isHeadless(service)) return;
  clusterIPs.slice(0, ipFamilies.length).forEach((ip, index) => {
    const family = `IPv${ipFamilyOf(ip)}`;
    const expected = ipFamilies[index];
    if ((expected === 'IPv4' || expected === 'IPv6') && expected !== family) {
      const detail = `expected an ${expected} value as indicated by \`ipFamilies[${index}]\``;
      errors.invalid(`${field}[${index}]`, ip, detail);
    }
  });
}

function checkKept(service: Service, old: Service, errors: FieldErrors): void {
  if (isHeadless(service) && isHeadless(old)) return;
  const now = service.spec.clusterIPs ?? [];
  const before = old.spec.clusterIPs ?? [];
  if (now.length === 0 && before.length > 0) {
    errors.invalid(`${field}[0]`, now, 'primary clusterIP can not be unset');
  }
  before.slice(0, now.length).forEach((ip, index) => {
    if (ip !== now[index]) errors.invalid(`${field}[${index}]`, now, 'may not change once set');
  });
  if (before.length > now.length && now.length === 1) checkReleasing(service, 'clusterIP', errors);
}

function checkFamiliesKept(service: Service, old: Service, errors: FieldErrors): void {
  const now = service.spec.ipFamilies ?? [];
  const before = old.spec.ipFamilies ?? [];
  const at = 'spec.ipFamilies[0]';
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) {
    // Kubernetes prints the addresses, although the number of families has changed.
    const shown = now.length === before.length ? now : service.spec.clusterIPs;
    errors.invalid(at, shown, 'may not change once set');
  }
  if (before.length > now.length && now.length === 1) checkReleasing(service, 'ipFamily', errors);
}

function checkReleasing({ spec }: Service, what: string, errors: FieldErrors): void {
  if (spec.ipFamilyPolicy === 'SingleStack') return;
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  errors.invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail);
}
