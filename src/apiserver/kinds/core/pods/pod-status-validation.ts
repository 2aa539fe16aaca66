import type {
  Container,
  ContainerRestartRule,
  ContainerStatus,
  Pod,
  PodCondition,
  PodSpec,
  PodStatus,
} from '../../../../kube/api/stored/core.ts';
import { ownValue } from '../../../../kube/go/json-value.ts';
import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkImmutable } from '../../../validation/immutable.ts';
import { checkIp } from '../../../validation/ip-address.ts';
import { dnsLabelProblems, idProblems, nameRules, qualifiedNameProblems } from '../../../validation/names.ts';
import { checkAnnotationUpdate, checkPodAnnotations } from './pod-annotations.ts';
import { checkResourceHealth } from './pod-resource-health.ts';

/** Validates a status that a kubelet, or a program in its role, reports. */
export function validatePodStatus(pod: Pod, old: Pod, errors: FieldErrors): void {
  const { status } = pod;
  checkAnnotationUpdate(errors, 'metadata.annotations', pod.metadata, old.metadata);
  checkPodAnnotations(errors, 'metadata.annotations', pod);
  checkConditions(errors, status.conditions ?? []);
  checkNomination(errors, status, old);
  if ((status.observedGeneration ?? 0) < 0) {
    errors.invalid('status.observedGeneration', status.observedGeneration, notNegative);
  }
  checkImmutable(errors, 'status.qosClass', status.qosClass ?? '', old.status.qosClass ?? '');
  checkTransitions(errors, status, old);
  checkClaimStatuses(errors, pod);
  checkExtendedClaim(errors, pod);
  checkIps(errors, status, old.status);
  checkUsers(errors, pod);
  checkResourceHealth(errors, pod);
}

const notNegative = 'must be a non-negative integer';
const statusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

function checkConditions(errors: FieldErrors, conditions: readonly PodCondition[]): void {
  conditions.forEach(({ type, observedGeneration = 0 }, index) => {
    const at = `status.conditions[${index}]`;
    if (observedGeneration < 0) errors.invalid(`${at}.observedGeneration`, observedGeneration, notNegative);
    errors.invalidFor(`${at}.Type`, type, qualifiedNameProblems(type));
  });
}

function checkNomination(errors: FieldErrors, { nominatedNodeName: node = '' }: PodStatus, old: Pod): void {
  const field = 'status.nominatedNodeName';
  if (node === '' || node === old.status.nominatedNodeName) return;
  errors.invalidFor(field, node, nameRules.dnsSubdomain(node, false));
  if (old.spec.nodeName) errors.forbidden(field, 'may not be set on pods that are already bound to a node');
}

/** A container that terminated for good must not run again. */
function checkTransitions(errors: FieldErrors, status: PodStatus, { spec, status: old }: Pod): void {
  for (const list of statusLists) {
    if (list !== 'ephemeralContainerStatuses' && couldAllRestart(spec)) continue;
    old[list]?.forEach((before, index) => {
      const now = status[list]?.find(({ name }) => name === before.name);
      if (!before.state?.terminated || !now || now.state?.terminated) return;
      if (mayRestart(list, before, spec)) return;
      const at = `status.${list}[${index}].state`;
      errors.forbidden(at, 'may not be transitioned to non-terminated state');
    });
  }
}

function mayRestart(
  list: (typeof statusLists)[number],
  { name, state }: ContainerStatus,
  spec: PodSpec,
): boolean {
  if (list === 'ephemeralContainerStatuses') return false;
  const containers = list === 'containerStatuses' ? spec.containers : spec.initContainers;
  const container = containers?.find((each) => each.name === name);
  return container !== undefined && couldRestart(container, spec, state?.terminated?.exitCode ?? 0);
}

function checkClaimStatuses(errors: FieldErrors, { spec, status }: Pod): void {
  const seen = new Set<string>();
  status.resourceClaimStatuses?.forEach(({ name, resourceClaimName }, index) => {
    const at = `status.resourceClaimStatuses[${index}]`;
    if (!spec.resourceClaims?.some((claim) => claim.name === name)) {
      errors.invalid(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`');
    }
    if (seen.has(name)) errors.duplicate(`${at}.name`, name);
    seen.add(name);
    if (resourceClaimName === undefined) return;
    const problems = nameRules.dnsSubdomain(resourceClaimName, false);
    errors.invalidFor(`${at}.resourceClaimName`, resourceClaimName, problems);
  });
}

function checkExtendedClaim(errors: FieldErrors, { spec, status }: Pod): void {
  const claim = status.extendedResourceClaimStatus;
  const field = 'status.extendedResourceClaimStatus';
  if (!claim) return;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const mappings = claim.requestMappings ?? [];
  if (mappings.length === 0) {
    errors.required(`${field}.requestMappings`, 'at least one request mapping is required');
  }
  mappings.forEach(({ containerName, resourceName, requestName }, index) => {
    const at = `${field}.requestMappings[${index}]`;
    const container = containers.find(({ name }) => name === containerName);
    if (!container) errors.invalid(`${at}.containerName`, containerName, noSuchContainer);
    else if (ownValue(container.resources?.requests, resourceName) === undefined) {
      errors.invalid(`${at}.resourceName`, resourceName, noSuchResource);
    }
    errors.invalidFor(`${field}.requestName`, requestName, dnsLabelProblems(requestName));
  });
  const name = claim.resourceClaimName;
  if (name === '') errors.required(`${field}.resourceClaimName`);
  else errors.invalidFor(`${field}.resourceClaimName`, name, nameRules.dnsSubdomain(name, false));
}

const noSuchContainer = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
const noSuchResource =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';

function checkIps(errors: FieldErrors, status: PodStatus, old: PodStatus): void {
  const hosts = status.hostIPs ?? [];
  checkIpList(errors, 'status.podIPs', status.podIPs ?? [], old.podIPs);
  const [first] = hosts;
  if (first && first.ip !== (status.hostIP ?? '')) {
    errors.invalid('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`');
  }
  checkIpList(errors, 'status.hostIPs', hosts, old.hostIPs);
}

/** At most one address of each family. */
function checkIpList(
  errors: FieldErrors,
  field: string,
  ips: readonly { readonly ip: string }[],
  old: readonly { readonly ip: string }[] = [],
): void {
  const known = old.map(({ ip }) => ip);
  ips.forEach(({ ip }, index) => {
    checkIp(errors, `${field}[${index}]`, ip, known);
  });
  if (ips.length < 2) return;
  const families = new Set(ips.map(({ ip }) => ipFamilyOf(ip)));
  if (ips.length > 2 || families.size < 2) {
    const shown = ips.map(({ ip }) => ({ IP: ip }));
    errors.invalid(field, shown, 'may specify no more than one IP for each IP family');
  }
}

function checkUsers(errors: FieldErrors, { spec, status }: Pod): void {
  for (const list of statusLists) {
    status[list]?.forEach(({ user }, index) => {
      const at = `status.${list}[${index}].user.linux`;
      const { linux } = user ?? {};
      if (!linux) return;
      if (spec.os?.name === 'windows') {
        errors.forbidden(at, 'cannot be set for a windows pod');
        return;
      }
      errors.invalidFor(`${at}.uid`, linux.uid, idProblems(linux.uid));
      errors.invalidFor(`${at}.gid`, linux.gid, idProblems(linux.gid));
      linux.supplementalGroups?.forEach((group, groupIndex) => {
        errors.invalidFor(`${at}.supplementalGroups[${groupIndex}]`, group, idProblems(group));
      });
    });
  }
}

/** Whether a container that exited with this code restarts, by its rules, its policy and the pod's policy. */
function couldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy !== undefined && rules.some((rule) => matches(rule, exitCode))) return true;
  switch (restartPolicy ?? spec.restartPolicy) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}

/** Whether a rule of one container can restart all containers. */
function couldAllRestart(spec: PodSpec): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return containers.some(({ restartPolicyRules: rules }) =>
    rules?.some(({ action }) => action === 'RestartAllContainers'),
  );
}

function matches({ exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (!exitCodes) return false;
  const isListed = exitCodes.values?.includes(exitCode) ?? false;
  return exitCodes.operator === 'In' ? isListed : exitCodes.operator === 'NotIn' && !isListed;
}
