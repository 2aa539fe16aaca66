import type { PodTemplate } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { labelsCell, nameColumn } from '../../table-cells.ts';
import { podWarnings } from '../pods/pod-warnings.ts';
import { defaultPodTemplate, validatePodTemplate } from '../pods/template-rules.ts';

export const podTemplateKind: ServedKind<PodTemplate> = {
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
  returnsDeletedObject: true,

  defaults({ template }) {
    defaultPodTemplate(template);
  },
  validate({ template }, errors) {
    validatePodTemplate(template, 'template', errors);
  },
  warnings({ template }, old) {
    return old && isSemanticallyEqual(template, old.template) ? [] : podWarnings(template, 'template.');
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
