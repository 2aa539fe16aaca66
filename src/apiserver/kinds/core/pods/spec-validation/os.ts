import type { PodSpec, WindowsSecurityContextOptions } from '../../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { dnsSubdomainProblems } from '../../../../validation/names.ts';
import { eachContainer } from '../containers.ts';
import { userNameProblems } from './windows-user-name.ts';

/** A pod for one operating system must not set fields that only the other one has. */
export function checkOsFields(errors: FieldErrors, path: string, spec: PodSpec): void {
  if (spec.os === undefined) return;
  const { name } = spec.os;
  if (name === '') errors.required(`${path}.os.name`);
  else if (name === 'linux') checkLinux(errors, path, spec);
  else if (name === 'windows') checkWindows(errors, path, spec);
  else errors.notSupported(`${path}.os`, name, ['linux', 'windows']);
}

export function checkWindowsOptions(
  errors: FieldErrors,
  field: string,
  options: WindowsSecurityContextOptions | undefined,
): void {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options ?? {};
  if (gmsaCredentialSpecName !== undefined) {
    const problems = dnsSubdomainProblems(gmsaCredentialSpecName);
    errors.invalidFor(`${field}.gmsaCredentialSpecName`, gmsaCredentialSpecName, problems);
  }
  if (gmsaCredentialSpec === '') {
    const detail = 'gmsaCredentialSpec cannot be an empty string';
    errors.invalid(`${field}.gmsaCredentialSpec`, '', detail);
  } else if (gmsaCredentialSpec !== undefined && Buffer.byteLength(gmsaCredentialSpec) > 64 * 1024) {
    const detail = 'gmsaCredentialSpec size must be under 64 KiB';
    errors.invalid(`${field}.gmsaCredentialSpec`, gmsaCredentialSpec, detail);
  }
  if (runAsUserName !== undefined) {
    errors.invalidFor(`${field}.runAsUserName`, runAsUserName, userNameProblems(runAsUserName));
  }
}

/** If one container is a Windows host process, all containers must be. */
export function checkWindowsHostProcess(errors: FieldErrors, path: string, spec: PodSpec): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let hostCount = 0;
  eachContainer(spec, path, ({ securityContext }, at) => {
    const own = securityContext?.windowsOptions?.hostProcess;
    count++;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail);
    }
    if (own ?? ofPod) hostCount++;
  });
  if (hostCount === 0) return;
  if (hostCount !== count) {
    const detail =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.invalid(path, '', detail);
  }
  if (!spec.hostNetwork) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.invalid(`${path}.hostNetwork`, false, detail);
  }
}

function checkLinux(errors: FieldErrors, path: string, spec: PodSpec): void {
  const detail = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions) {
    errors.forbidden(`${path}.securityContext.windowsOptions`, detail);
  }
  eachContainer(spec, path, ({ securityContext }, at) => {
    if (securityContext?.windowsOptions) {
      errors.forbidden(`${at}.securityContext.windowsOptions`, detail);
    }
  });
}

function checkWindows(errors: FieldErrors, path: string, spec: PodSpec): void {
  for (const field of linuxPodFields) {
    const name = field.slice(field.indexOf('.') + 1);
    const holder: object = field === name ? spec : (spec.securityContext ?? {});
    forbidIfSet(errors, `${path}.${field}`, holder, name);
  }
  eachContainer(spec, path, ({ securityContext }, at) => {
    for (const name of linuxContainerFields) {
      forbidIfSet(errors, `${at}.securityContext.${name}`, securityContext ?? {}, name);
    }
  });
}

function forbidIfSet(errors: FieldErrors, field: string, holder: object, name: string): void {
  const value: unknown = Object.entries(holder).find(([key]) => key === name)?.[1];
  const isSet = value !== undefined && !(Array.isArray(value) && value.length === 0);
  if (isSet) errors.forbidden(field, 'cannot be set for a windows pod');
}

const linuxPodFields = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
];

const linuxContainerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];
