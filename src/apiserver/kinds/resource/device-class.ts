import type { DeviceClass } from '../../../kube/api/stored/resource.ts';
import { nameRules } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const deviceClassKind: ServedKind<DeviceClass> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  plural: 'deviceclasses',
  singular: 'deviceclass',
  namespaced: false,
  type: 'resource.k8s.io/v1.DeviceClass',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: true,
  returnsDeletedObject: true,

  validate() {},

  columns: [nameColumn, ageColumn],
  row: (deviceClass, context) => [deviceClass.metadata.name ?? '', age(deviceClass, context)],
};
