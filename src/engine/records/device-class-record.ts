import type { DeviceClass } from '../../kube/api/resource.ts';
import { textOf } from '../../kube/wire.ts';
import { clusterIdentity, type Identity } from './identity.ts';

/** The fields of a DeviceClass that the engine uses. */
export interface DeviceClassRecord extends Identity {
  /** The extended resource that the class serves on nodes that do not advertise it; empty if there is none. */
  readonly extendedResourceName: string;
}

export function readDeviceClass(deviceClass: DeviceClass): DeviceClassRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(deviceClass);
  const extendedResourceName = textOf(deviceClass.spec?.extendedResourceName);
  return { key, uid, version, isDeleting, extendedResourceName };
}
