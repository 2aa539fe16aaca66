import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

/** Settings of all disks: `stowage.dev/v1alpha1`, cluster-scoped, one object of the name `default`. docs/kinds.md describes each field. */
export interface DiskSettings extends KubeObject {
  readonly spec?: DiskCapacitySettings;
}

/** Also of one disk in a StorageNode. */
export interface DiskCapacitySettings {
  readonly capacityPolicy?: 'Available' | 'OverProvision';
  /** Only with `OverProvision`; 100 if absent. */
  readonly overProvisioningPercentage?: number;
}

/** The only name of a DiskSettings object. */
export const diskSettingsName = 'default';

export const diskSettings: Resource<DiskSettings> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'DiskSettings',
  plural: 'disksettings',
  isOptional: true,
};
