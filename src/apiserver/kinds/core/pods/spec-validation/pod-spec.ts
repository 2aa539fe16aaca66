import type { PodSpec } from '../../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../../kube/api/stored/meta.ts';
import { checkRequiredEnum } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkLabels } from '../../../../validation/labels.ts';
import { dnsLabelProblems, nameRules, rangeProblems } from '../../../../validation/names.ts';
import { checkAffinity } from './affinity.ts';
import {
  type ContainerContext,
  checkContainers,
  checkEphemeralContainers,
  checkInitContainers,
} from './containers.ts';
import { checkFileKeyVolumes } from './env.ts';
import { checkDns, checkHostAliases, checkHostNames, checkHostPorts } from './network.ts';
import { checkOsFields, checkWindowsHostProcess } from './os.ts';
import {
  checkReadinessGates,
  checkSchedulingGates,
  checkSpreadConstraints,
  checkTolerations,
} from './placement.ts';
import { checkOverhead, checkPodResources, checkResourceClaims } from './resources.ts';
import { checkHostUsers, checkPodSecurity } from './security.ts';
import { checkVolumes } from './volumes.ts';

export interface PodSpecContext {
  /** True for pods, which have some stricter rules than templates. */
  readonly isPod: boolean;
  /** The metadata of the pod: claims for its ephemeral volumes are named after the pod. */
  readonly meta?: ObjectMeta;
}

/** All rules for a pod spec, in Kubernetes' order. */
export function checkPodSpec(
  errors: FieldErrors,
  path: string,
  spec: PodSpec,
  context: PodSpecContext,
): void {
  if (spec.terminationGracePeriodSeconds === undefined) {
    errors.required(`${path}.terminationGracePeriodSeconds`);
  }
  const volumes = checkVolumes(errors, `${path}.volumes`, spec.volumes ?? [], context);
  checkResourceClaims(errors, `${path}.resourceClaims`, spec.resourceClaims ?? [], context.meta);
  const containerContext: ContainerContext = {
    spec,
    volumes,
    claimNames: new Set(spec.resourceClaims?.map(({ name }) => name).filter((name) => name !== '')),
  };
  checkContainers(errors, `${path}.containers`, containerContext);
  checkInitContainers(errors, `${path}.initContainers`, containerContext);
  checkEphemeralContainers(errors, `${path}.ephemeralContainers`, containerContext);
  checkPodResources(errors, path, spec, containerContext.claimNames);
  checkHostPorts(errors, path, spec, context.isPod);
  checkBehaviour(errors, path, spec);
  checkPlacement(errors, path, spec);
  checkWindowsHostProcess(errors, path, spec);
  checkHostUsers(errors, path, spec);
  checkHostNames(errors, path, spec);
  checkNames(errors, path, spec);
  checkRuntime(errors, path, spec);
  checkFileKeyVolumes(errors, path, spec);
}

const int32Max = 2_147_483_647;

function checkBehaviour(errors: FieldErrors, path: string, spec: PodSpec): void {
  checkRequiredEnum(errors, `${path}.restartPolicy`, spec.restartPolicy, restartPolicies);
  checkRequiredEnum(errors, `${path}.dnsPolicy`, spec.dnsPolicy, dnsPolicies);
  checkLabels(errors, `${path}.nodeSelector`, spec.nodeSelector);
  checkPodSecurity(errors, path, spec);
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

function checkPlacement(errors: FieldErrors, path: string, spec: PodSpec): void {
  checkAffinity(errors, `${path}.affinity`, spec.affinity);
  checkDns(errors, `${path}.dnsConfig`, spec);
  checkReadinessGates(errors, `${path}.readinessGates`, spec.readinessGates ?? []);
  checkSchedulingGates(errors, `${path}.schedulingGates`, spec.schedulingGates ?? []);
  checkSpreadConstraints(errors, `${path}.topologySpreadConstraints`, spec.topologySpreadConstraints ?? []);
}

function checkNames(errors: FieldErrors, path: string, spec: PodSpec): void {
  const { serviceAccountName: account = '', nodeName = '', hostname = '', subdomain = '' } = spec;
  if (account !== '') {
    errors.invalidFor(`${path}.serviceAccountName`, account, nameRules.dnsSubdomain(account, false));
  }
  if (nodeName !== '') {
    errors.invalidFor(`${path}.nodeName`, nodeName, nameRules.dnsSubdomain(nodeName, false));
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined) {
    errors.invalidFor(`${path}.activeDeadlineSeconds`, deadline, rangeProblems(deadline, 1, int32Max));
  }
  if (hostname !== '') errors.invalidFor(`${path}.hostname`, hostname, dnsLabelProblems(hostname));
  if (subdomain !== '') errors.invalidFor(`${path}.subdomain`, subdomain, dnsLabelProblems(subdomain));
}

function checkRuntime(errors: FieldErrors, path: string, spec: PodSpec): void {
  const { priorityClassName = '', runtimeClassName } = spec;
  checkTolerations(errors, `${path}.tolerations`, spec.tolerations ?? []);
  checkHostAliases(errors, `${path}.hostAliases`, spec.hostAliases ?? []);
  if (priorityClassName !== '') {
    const problems = nameRules.dnsSubdomain(priorityClassName, false);
    errors.invalidFor(`${path}.priorityClassName`, priorityClassName, problems);
  }
  if (runtimeClassName !== undefined) {
    const problems = nameRules.dnsSubdomain(runtimeClassName, false);
    errors.invalidFor(`${path}.runtimeClassName`, runtimeClassName, problems);
  }
  if (spec.preemptionPolicy !== undefined) {
    checkRequiredEnum(errors, `${path}.preemptionPolicy`, spec.preemptionPolicy, preemptionPolicies);
  }
  checkOverhead(errors, `${path}.overhead`, spec.overhead);
  checkOsFields(errors, path, spec);
}
