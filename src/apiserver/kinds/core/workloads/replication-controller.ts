import type { ReplicationController } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { nameRules } from '../../../validation/names.ts';
import { checkNonNegative } from '../../../validation/quantities.ts';
import { scaleOf } from '../../autoscaling/scale.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, labelsCell } from '../../table-cells.ts';
import { dropDisabledFields } from '../pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate, validatePodTemplate } from '../pods/template-rules.ts';
import { checkReplicaCounts } from './status-checks.ts';
import { checkAlwaysRestarts, nameWarnings, noMatchMessage, templateWarnings } from './template-checks.ts';
import { containerCells, replicaColumns } from './workload-cells.ts';

export const replicationControllerKind: ServedKind<ReplicationController> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  type: 'core/v1.ReplicationController',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  orphansByDefault: true,
  scale: {
    read: ({ spec, status }) => scaleOf(spec.replicas, status.replicas, { matchLabels: spec.selector }),
    write(controller, replicas) {
      controller.spec.replicas = replicas;
    },
  },

  defaults({ metadata, spec }) {
    spec.replicas ??= 1;
    if (!spec.template) return;
    defaultPodTemplate(spec.template);
    const { labels } = spec.template.metadata;
    if (!labels) return;
    if (isEmpty(spec.selector)) spec.selector = { ...labels };
    if (isEmpty(metadata.labels)) metadata.labels = { ...labels };
  },
  prepareCreate(controller) {
    controller.status = { replicas: 0 };
    if (controller.spec.template) dropDisabledFields(controller.spec.template.spec);
  },
  prepareUpdate(controller, old) {
    controller.status = old.status;
    if (controller.spec.template) dropDisabledFields(controller.spec.template.spec);
  },
  validate: checkController,
  validateUpdate: (controller, _old, errors) => checkController(controller, errors),
  validateStatus: ({ status }, _old, errors) => checkReplicaCounts(errors, status),
  warnings: (controller, old) => [
    ...(old ? [] : nameWarnings(controller.metadata.name)),
    ...templateWarnings(controller, old, controller.spec.template),
  ],

  selectableFields: { 'status.replicas': ({ status }) => String(status.replicas) },
  columns: replicaColumns,
  row(controller, context) {
    const { spec, status } = controller;
    return [
      controller.metadata.name ?? '',
      spec.replicas ?? 0,
      status.replicas,
      status.readyReplicas ?? 0,
      age(controller, context),
      ...containerCells(spec.template),
      labelsCell(spec.selector),
    ];
  },
};

type Labels = Readonly<Record<string, string>>;

function checkController({ spec }: ReplicationController, errors: FieldErrors): void {
  checkNonNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds ?? 0);
  const selector = spec.selector ?? {};
  if (isEmpty(selector)) errors.required('spec.selector');
  if (spec.replicas === undefined) errors.required('spec.replicas');
  else checkNonNegative(errors, 'spec.replicas', spec.replicas);
  const { template } = spec;
  if (!template) {
    errors.required('spec.template');
    return;
  }
  const { labels } = template.metadata;
  if (!includesAll(labels, selector)) {
    errors.invalid('spec.template.metadata.labels', labels, noMatchMessage);
  }
  validatePodTemplate(template, 'spec.template', errors);
  checkAlwaysRestarts(errors, template, 'ReplicationController');
}

function isEmpty(labels: Labels | undefined): boolean {
  return labels === undefined || Object.keys(labels).length === 0;
}

function includesAll(labels: Labels = {}, required: Labels): boolean {
  return Object.entries(required).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
}
