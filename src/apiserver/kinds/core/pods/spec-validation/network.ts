import type { HostAlias, PodSpec } from '../../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkIp } from '../../../../validation/ip-address.ts';
import { dnsSubdomainProblems, regexProblem } from '../../../../validation/names.ts';

/** If `hostNetwork` is set, host ports must equal container ports. Templates may omit them. */
export function checkHostPorts(errors: FieldErrors, path: string, spec: PodSpec, isPod: boolean): void {
  if (!spec.hostNetwork) return;
  spec.containers?.forEach(({ ports }, index) => {
    ports?.forEach(({ hostPort = 0, containerPort }, portIndex) => {
      if (hostPort === containerPort || (!isPod && hostPort === 0)) return;
      const field = `${path}.containers[${index}].ports[${portIndex}].hostPort`;
      errors.invalid(field, hostPort, 'must match `containerPort` when `hostNetwork` is true');
    });
  });
}

export function checkDns(errors: FieldErrors, field: string, { dnsConfig, dnsPolicy }: PodSpec): void {
  if (dnsPolicy === 'None') {
    if (!dnsConfig) {
      errors.required(field, 'must provide `dnsConfig` when `dnsPolicy` is None');
      return;
    }
    if (!dnsConfig.nameservers?.length) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      errors.required(`${field}.nameservers`, detail);
      return;
    }
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (nameservers.length > nameserversMax) {
    const detail = `must not have more than ${nameserversMax} nameservers`;
    errors.invalid(`${field}.nameservers`, nameservers, detail);
  }
  nameservers.forEach((nameserver, index) => {
    checkIp(errors, `${field}.nameservers[${index}]`, nameserver);
  });
  checkSearches(errors, `${field}.searches`, searches);
  options.forEach(({ name }, index) => {
    if (!name) errors.required(`${field}.options[${index}]`, 'must not be empty');
  });
}

export function checkHostAliases(errors: FieldErrors, field: string, aliases: readonly HostAlias[]): void {
  aliases.forEach(({ ip, hostnames }, index) => {
    const at = `${field}[${index}]`;
    checkIp(errors, `${at}.ip`, ip);
    hostnames?.forEach((hostname, hostIndex) => {
      errors.invalidFor(`${at}.hostnames[${hostIndex}]`, hostname, dnsSubdomainProblems(hostname));
    });
  });
}

/** Host name and subdomain of the pod. */
export function checkHostNames(errors: FieldErrors, path: string, spec: PodSpec): void {
  const { hostnameOverride: name } = spec;
  const field = `${path}.hostnameOverride`;
  if (name === undefined) return;
  if (spec.setHostnameAsFQDN) {
    errors.forbidden(field, 'may not be specified when setHostnameAsFQDN is true');
  }
  if (spec.hostNetwork) errors.forbidden(field, 'may not be specified when hostNetwork is true');
  if (utf8Length(name) > hostnameBytesMax) errors.tooLong(field, hostnameBytesMax);
  errors.invalidFor(field, name, dnsSubdomainProblems(name));
}

const hostnameBytesMax = 64;
const nameserversMax = 3;
const searchesMax = 32;
const searchBytesMax = 2048;
const subdomainBytesMax = 253;

function checkSearches(errors: FieldErrors, field: string, searches: readonly string[]): void {
  if (searches.length > searchesMax) {
    errors.invalid(field, searches, `must not have more than ${searchesMax} search paths`);
  }
  if (utf8Length(searches.join(' ')) > searchBytesMax) {
    const detail = `must not have more than ${searchBytesMax} characters (including spaces) in the search list`;
    errors.invalid(field, searches, detail);
  }
  searches.forEach((search, index) => {
    if (search === '.') return;
    const name = search.replace(/\.$/, '');
    errors.invalidFor(`${field}[${index}]`, name, searchProblems(name));
  });
}

function searchProblems(name: string): readonly string[] {
  const tooLong =
    utf8Length(name) > subdomainBytesMax ? [`must be no more than ${subdomainBytesMax} characters`] : [];
  return new RegExp(`^${searchFormat}$`).test(name) ? tooLong : [...tooLong, searchProblem];
}

const searchLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const searchFormat = `${searchLabel}(\\.${searchLabel})*`;
const searchProblem = regexProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  searchFormat,
  ['example.com'],
);
