import type { ReplicaSet } from '../../../kube/api/stored/apps.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import { checkNonNegative } from '../../validation/quantities.ts';
import { scaleOf } from '../autoscaling/scale.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate, validatePodTemplate } from '../core/pods/template-rules.ts';
import { checkReplicaCounts } from '../core/workloads/status-checks.ts';
import {
  checkAlwaysRestarts,
  checkOwnSelector,
  checkSelectsTemplate,
  compileOwnSelector,
  nameWarnings,
  templateWarnings,
} from '../core/workloads/template-checks.ts';
import { containerCells, replicaColumns } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, labelSelectorCell } from '../table-cells.ts';

export const replicaSetKind: ServedKind<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  type: 'apps/v1.ReplicaSet',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  scale: {
    read: ({ spec, status }) => scaleOf(spec.replicas, status.replicas, spec.selector),
    write(set, replicas) {
      set.spec.replicas = replicas;
    },
  },

  defaults({ spec }) {
    defaultPodTemplate(spec.template);
    spec.replicas ??= 1;
  },
  prepareCreate(set) {
    set.status = { replicas: 0 };
    dropDisabledFields(set.spec.template.spec);
  },
  prepareUpdate(set, old) {
    set.status = old.status;
    dropDisabledFields(set.spec.template.spec);
  },
  validate: checkReplicaSet,
  validateUpdate(set, old, errors) {
    checkReplicaSet(set, errors);
    checkImmutable(errors, 'spec.selector', set.spec.selector, old.spec.selector);
  },
  validateStatus: ({ status }, _old, errors) => checkReplicaCounts(errors, status),
  warnings: (set, old) => [
    ...(old ? [] : nameWarnings(set.metadata.name)),
    ...templateWarnings(set, old, set.spec.template),
  ],

  columns: replicaColumns,
  row(set, context) {
    const { spec, status } = set;
    return [
      set.metadata.name ?? '',
      spec.replicas ?? 0,
      status.replicas,
      status.readyReplicas ?? 0,
      age(set, context),
      ...containerCells(spec.template),
      labelSelectorCell(spec.selector ?? undefined),
    ];
  },
};

function checkReplicaSet({ spec }: ReplicaSet, errors: FieldErrors): void {
  checkNonNegative(errors, 'spec.replicas', spec.replicas ?? 0);
  checkNonNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds ?? 0);
  // Kubernetes' message says `deployment`.
  checkOwnSelector(errors, spec.selector, 'deployment');
  const selector = compileOwnSelector(errors, spec.selector, 'invalid label selector');
  if (!selector) return;
  checkSelectsTemplate(errors, selector, spec.template);
  validatePodTemplate(spec.template, 'spec.template', errors);
  checkAlwaysRestarts(errors, spec.template, 'ReplicaSet');
}
