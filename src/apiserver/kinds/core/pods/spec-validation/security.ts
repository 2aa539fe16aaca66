import type {
  AppArmorProfile,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '../../../../../kube/api/stored/core.ts';
import type { Int64 } from '../../../../../kube/api/stored/meta.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkRelativePath } from '../../../../validation/file-paths.ts';
import { internalForm } from '../../../../validation/internal-form.ts';
import { idProblems } from '../../../../validation/names.ts';
import { eachContainer } from '../containers.ts';
import { checkWindowsOptions } from './os.ts';
import { checkSysctls } from './sysctls.ts';

export function checkPodSecurity(errors: FieldErrors, path: string, spec: PodSpec): void {
  const { securityContext: context } = spec;
  const field = `${path}.securityContext`;
  if (context === undefined) return;
  for (const id of ['fsGroup', 'runAsUser', 'runAsGroup'] as const) {
    checkId(errors, `${field}.${id}`, context[id]);
  }
  context.supplementalGroups?.forEach((group, index) => {
    checkId(errors, `${field}.supplementalGroups[${index}]`, group);
  });
  if (spec.shareProcessNamespace && spec.hostPID) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.invalid(`${field}.shareProcessNamespace`, true, detail);
  }
  checkSysctls(errors, `${field}.sysctls`, spec);
  checkPolicy(errors, `${field}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
    'Always',
    'OnRootMismatch',
  ]);
  checkSeccomp(errors, `${field}.seccompProfile`, context.seccompProfile);
  checkWindowsOptions(errors, `${field}.windowsOptions`, context.windowsOptions);
  checkAppArmor(errors, `${field}.appArmorProfile`, context.appArmorProfile);
  const { supplementalGroupsPolicy, seLinuxChangePolicy } = context;
  checkPolicy(errors, `${field}.supplementalGroupsPolicy`, supplementalGroupsPolicy, ['Merge', 'Strict']);
  // The feature gate of MountOption is off.
  checkPolicy(errors, `${field}.seLinuxChangePolicy`, seLinuxChangePolicy, ['Recursive']);
}

export function checkContainerSecurity(
  errors: FieldErrors,
  field: string,
  context: SecurityContext | undefined,
  isHostUser: boolean,
): void {
  if (context === undefined) return;
  checkId(errors, `${field}.runAsUser`, context.runAsUser);
  checkId(errors, `${field}.runAsGroup`, context.runAsGroup);
  checkPolicy(errors, `${field}.procMount`, context.procMount, ['Default', 'Unmasked']);
  if (isHostUser && context.procMount === 'Unmasked') {
    errors.invalid(`${field}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`');
  }
  checkSeccomp(errors, `${field}.seccompProfile`, context.seccompProfile);
  if (context.allowPrivilegeEscalation === false) checkNoEscalation(errors, field, context);
  checkWindowsOptions(errors, `${field}.windowsOptions`, context.windowsOptions);
  checkAppArmor(errors, `${field}.appArmorProfile`, context.appArmorProfile);
}

/** A user namespace (`hostUsers: false`) excludes the other host namespaces and block devices. */
export function checkHostUsers(errors: FieldErrors, path: string, spec: PodSpec): void {
  if (spec.hostUsers !== false) return;
  const detail = 'when `hostUsers` is false';
  if (spec.hostNetwork) errors.forbidden(`${path}.hostNetwork`, detail);
  if (spec.hostPID) errors.forbidden(`${path}.HostPID`, detail);
  if (spec.hostIPC) errors.forbidden(`${path}.HostIPC`, detail);
  eachContainer(spec, path, ({ volumeDevices }, at) => {
    if (volumeDevices?.length) errors.forbidden(`${at}.volumeDevices`, detail);
  });
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const profileBytesMax = 4095;

function checkId(errors: FieldErrors, field: string, id: Int64 | undefined): void {
  if (id !== undefined) errors.invalidFor(field, id, idProblems(id));
}

function checkPolicy(
  errors: FieldErrors,
  field: string,
  policy: string | undefined,
  supported: readonly string[],
): void {
  if (policy !== undefined) checkSupported(errors, field, policy, supported);
}

function checkNoEscalation(errors: FieldErrors, field: string, context: SecurityContext): void {
  if (context.privileged) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    errors.invalid(field, shownContext(context), detail);
  }
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== 'CAP_SYS_ADMIN') continue;
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    errors.invalid(field, shownContext(context), detail);
  }
}

function checkSeccomp(errors: FieldErrors, field: string, profile: SeccompProfile | undefined): void {
  if (profile === undefined) return;
  if (profile.type === '') errors.required(`${field}.type`, 'type is required when seccompProfile is set');
  else checkSupported(errors, `${field}.type`, profile.type, profileTypes);
  const local = profile.localhostProfile;
  if (profile.type !== 'Localhost') {
    if (local === undefined) return;
    const detail = 'can only be set when seccomp type is Localhost';
    errors.invalid(`${field}.localhostProfile`, shownProfile(profile), detail);
  } else if (local === undefined) {
    errors.required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost');
  } else checkRelativePath(errors, `${field}.localhostProfile`, local);
}

function checkAppArmor(errors: FieldErrors, field: string, profile: AppArmorProfile | undefined): void {
  if (profile === undefined) return;
  const { type, localhostProfile: local } = profile;
  if (type === 'Localhost') checkLocalAppArmor(errors, `${field}.localhostProfile`, local);
  else if (type === '') errors.required(`${field}.type`, 'type is required when appArmorProfile is set');
  else if (!profileTypes.includes(type)) errors.notSupported(`${field}.type`, type, profileTypes);
  else if (local !== undefined) {
    const detail = 'can only be set when AppArmor type is Localhost';
    errors.invalid(`${field}.localhostProfile`, local, detail);
  }
}

function checkLocalAppArmor(errors: FieldErrors, field: string, local: string | undefined): void {
  if (local === undefined) {
    errors.required(field, 'must be set when AppArmor type is Localhost');
    return;
  }
  if (local !== local.trim()) errors.invalid(field, local, 'must not be padded with whitespace');
  else if (local === '') errors.required(field, 'must be set when AppArmor type is Localhost');
  if (utf8Length(local) > profileBytesMax) errors.tooLong(field, profileBytesMax);
}

function shownContext(context: SecurityContext): object {
  const { capabilities, seLinuxOptions, windowsOptions, seccompProfile, appArmorProfile } = context;
  const windows = ['gmsaCredentialSpecName', 'gmsaCredentialSpec', 'runAsUserName', 'hostProcess'];
  const selinux = ['user', 'role', 'type', 'level'];
  const shown = {
    ...context,
    capabilities: capabilities && internalForm(capabilities, ['add', 'drop']),
    SELinuxOptions: seLinuxOptions && internalForm(seLinuxOptions, selinux, emptyTexts),
    windowsOptions: windowsOptions && internalForm(windowsOptions, windows),
    seccompProfile: seccompProfile && shownProfile(seccompProfile),
    appArmorProfile: appArmorProfile && shownProfile(appArmorProfile),
  };
  return internalForm(shown, contextFields);
}

function shownProfile(profile: SeccompProfile | AppArmorProfile): object {
  return internalForm(profile, ['type', 'localhostProfile']);
}

const emptyTexts = { user: '', role: '', type: '', level: '' };

const contextFields = [
  'capabilities',
  'privileged',
  'SELinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
];
