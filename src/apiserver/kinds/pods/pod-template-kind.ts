import type { PodTemplate } from '../../../kube/api/core-v1.ts';
import { deepEqual } from '../../validation/deep-equal.ts';
import { nameRules } from '../../validation/names.ts';
import type { Kind } from '../kind.ts';
import { labelsCell, nameColumn } from '../table-cells.ts';
import { defaultPodTemplate, validatePodTemplate } from './pod-template.ts';
import { podWarnings } from './pod-warnings.ts';

export const podTemplateKind: Kind<PodTemplate> = {
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  namespaced: true,
  type: 'core/v1.PodTemplate',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: true,
  answersDeletionWithObject: true,

  defaults({ template }) {
    defaultPodTemplate(template);
  },
  validate({ template }, errors) {
    validatePodTemplate(template, 'template', errors);
  },
  warnings({ template }, old) {
    return old && deepEqual(template, old.template) ? [] : podWarnings(template, 'template.');
  },

  columns: [
    nameColumn,
    { name: 'Containers', type: 'string' },
    { name: 'Images', type: 'string' },
    { name: 'Pod Labels', type: 'string' },
  ],
  row({ metadata, template }) {
    const containers = template.spec.containers ?? [];
    return [
      metadata.name ?? '',
      containers.map(({ name }) => name).join(','),
      containers.map(({ image = '' }) => image).join(','),
      labelsCell(template.metadata?.labels),
    ];
  },
};
