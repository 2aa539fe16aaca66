import type { ResourceSlice, ResourceSliceSpec } from '../../../kube/api/stored/resource.ts';
import { timeFromUnix } from '../../../kube/go/kubernetes-time.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import type { Moment, ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const resourceSliceKind: ServedKind<ResourceSlice> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  singular: 'resourceslice',
  namespaced: false,
  type: 'resource.k8s.io/v1.ResourceSlice',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: true,
  returnsDeletedObject: true,

  prepareCreate: ({ spec }, moment) => defaultDevices(spec, moment),
  prepareUpdate: ({ spec }, _old, moment) => defaultDevices(spec, moment),
  validate: ({ spec }, errors) => checkNodeFields(spec, errors),
  validateUpdate({ spec }, old, errors) {
    checkImmutable(errors, 'spec.pool.name', spec.pool.name, old.spec.pool.name);
    checkImmutable(errors, 'spec.driver', spec.driver, old.spec.driver);
    checkImmutable(errors, 'spec.nodeName', spec.nodeName, old.spec.nodeName);
    checkNodeFields(spec, errors);
  },

  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.driver': ({ spec }) => spec.driver,
  },
  unknownFieldMessage: (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  columns: [
    nameColumn,
    { name: 'Node', type: 'string' },
    { name: 'Driver', type: 'string' },
    { name: 'Pool', type: 'string' },
    ageColumn,
  ],
  row(slice, context) {
    const { nodeName = '', driver, pool } = slice.spec;
    return [slice.metadata.name ?? '', nodeName, driver, pool.name, age(slice, context)];
  },
};

/** Taints get the time at which they were added. */
function defaultDevices({ devices }: ResourceSliceSpec, { nowMs }: Moment): void {
  for (const { taints, nodeAllocatableResourceMappings: mappings } of devices ?? []) {
    for (const taint of taints ?? []) taint.timeAdded ??= timeFromUnix(Math.trunc(nowMs / 1000));
    for (const mapping of Object.values(mappings ?? {})) mapping.allocationMultiplier ??= '1';
  }
}

const nodeFields = ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'] as const;

/** The devices of a slice are on one node, on selected nodes or on all nodes, or each device says where it is. */
function checkNodeFields(spec: ResourceSliceSpec, errors: FieldErrors): void {
  const listed = nodeFields.map((place) => `\`${place}\``).join(', ');
  const set = nodeFields.filter((place) => Boolean(spec[place])).map((place) => `\`${place}\``);
  if (set.length === 0) errors.required('spec', `exactly one of ${listed} is required`);
  if (set.length > 1) {
    const detail = `exactly one of ${listed} is required, but multiple fields are set`;
    errors.invalid('spec', `{${set.join(', ')}}`, detail);
  }
}
