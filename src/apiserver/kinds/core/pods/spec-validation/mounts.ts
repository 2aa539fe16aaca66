import type { Volume, VolumeDevice, VolumeMount } from '../../../../../kube/api/stored/core.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { checkRelativePath, hasParentSegment } from '../../../../validation/file-paths.ts';
import type { AnyContainer } from '../containers.ts';

type Volumes = ReadonlyMap<string, Volume>;

/** Volumes that a container mounts as directories. */
export function checkVolumeMounts(
  errors: FieldErrors,
  field: string,
  container: AnyContainer,
  volumes: Volumes,
): void {
  const devices = pathsByName(container.volumeDevices?.map(({ name, devicePath }) => [name, devicePath]));
  const taken = new Set<string>();
  container.volumeMounts?.forEach((mount, index) => {
    const at = `${field}[${index}]`;
    const { name, mountPath } = mount;
    if (name === '') errors.required(`${at}.name`);
    if (!volumes.has(name)) errors.notFound(`${at}.name`, name);
    if (mountPath === '') errors.required(`${at}.mountPath`);
    if (taken.has(mountPath)) errors.invalid(`${at}.mountPath`, mountPath, 'must be unique');
    taken.add(mountPath);
    if (devices.has(name)) {
      errors.invalid(`${at}.name`, name, 'must not already exist in volumeDevices');
    }
    if ([...devices.values()].includes(mountPath)) {
      const detail = 'must not already exist as a path in volumeDevices';
      errors.invalid(`${at}.mountPath`, mountPath, detail);
    }
    checkMountOptions(errors, field, at, { mount, isPrivileged: isPrivileged(container) });
  });
}

/** Volumes that a container uses as block devices: only claims can be block devices. */
export function checkDevices(
  errors: FieldErrors,
  field: string,
  container: AnyContainer,
  volumes: Volumes,
): void {
  const mounts = pathsByName(container.volumeMounts?.map(({ name, mountPath }) => [name, mountPath]));
  const taken = { names: new Set<string>(), paths: new Set<string>() };
  container.volumeDevices?.forEach((device, index) => {
    const at = `${field}[${index}]`;
    checkDevice(errors, at, device, { volume: volumes.get(device.name), taken });
    if (mounts.has(device.name)) {
      errors.invalid(`${at}.name`, device.name, 'must not already exist in volumeMounts');
    }
    if ([...mounts.values()].includes(device.devicePath)) {
      const detail = 'must not already exist as a path in volumeMounts';
      errors.invalid(`${at}.devicePath`, device.devicePath, detail);
    }
    if (device.name !== '') taken.names.add(device.name);
  });
}

interface DeviceContext {
  readonly volume: Volume | undefined;
  readonly taken: { readonly names: ReadonlySet<string>; readonly paths: Set<string> };
}

function checkDevice(
  errors: FieldErrors,
  at: string,
  { name, devicePath }: VolumeDevice,
  { volume, taken }: DeviceContext,
): void {
  if (name === '') errors.required(`${at}.name`);
  if (taken.names.has(name)) errors.invalid(`${at}.name`, name, 'must be unique');
  if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
    const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    errors.invalid(`${at}.name`, name, detail);
  }
  if (!volume) errors.notFound(`${at}.name`, name);
  if (devicePath === '') errors.required(`${at}.devicePath`);
  if (taken.paths.has(devicePath)) errors.invalid(`${at}.devicePath`, devicePath, 'must be unique');
  if (hasParentSegment(devicePath)) {
    errors.invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')");
  } else taken.paths.add(devicePath);
}

/** Kubernetes reports most of these at the list, not at the mount. */
function checkMountOptions(
  errors: FieldErrors,
  field: string,
  at: string,
  { mount, isPrivileged }: { readonly mount: VolumeMount; readonly isPrivileged: boolean },
): void {
  const { subPath = '', subPathExpr = '', mountPropagation } = mount;
  if (subPath !== '') checkRelativePath(errors, `${field}.subPath`, subPath);
  if (subPathExpr !== '') {
    if (subPath !== '') {
      const detail = 'subPathExpr and subPath are mutually exclusive';
      errors.invalid(`${at}.subPathExpr`, subPathExpr, detail);
    }
    checkRelativePath(errors, `${field}.subPathExpr`, subPathExpr);
  }
  if (mountPropagation !== undefined) {
    checkSupported(errors, `${field}.mountPropagation`, mountPropagation, propagations);
    if (mountPropagation === 'Bidirectional' && !isPrivileged) {
      const detail = 'Bidirectional mount propagation is available only to privileged containers';
      errors.forbidden(`${field}.mountPropagation`, detail);
    }
  }
  checkRecursiveReadOnly(errors, `${field}.recursiveReadOnly`, mount);
}

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

function checkRecursiveReadOnly(errors: FieldErrors, field: string, mount: VolumeMount): void {
  const mode = mount.recursiveReadOnly;
  if (mode === undefined || mode === 'Disabled') return;
  if (mode !== 'Enabled' && mode !== 'IfPossible') {
    errors.notSupported(field, mode, ['Disabled', 'Enabled', 'IfPossible']);
    return;
  }
  if (!mount.readOnly) errors.forbidden(field, 'may only be specified when readOnly is true');
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    errors.forbidden(field, 'may only be specified when mountPropagation is None or not specified');
  }
}

function isPrivileged(container: AnyContainer): boolean {
  return container.securityContext?.privileged === true;
}

function pathsByName(pairs: readonly (readonly [string, string])[] = []): ReadonlyMap<string, string> {
  return new Map(pairs);
}
