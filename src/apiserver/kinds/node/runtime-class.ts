import type { Toleration } from '../../../kube/api/stored/core.ts';
import type { RuntimeClass } from '../../../kube/api/stored/node.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { checkLabels } from '../../validation/labels.ts';
import { dnsLabelProblems, nameRules } from '../../validation/names.ts';
import { checkTolerations } from '../core/pods/spec-validation/placement.ts';
import { checkOverhead } from '../core/pods/spec-validation/resources.ts';
import { roundToMilli } from '../core/resources/resource-list.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

export const runtimeClassKind: ServedKind<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  namespaced: false,
  type: 'node.k8s.io/v1.RuntimeClass',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: false,
  createOnUpdate: true,
  requiresResourceVersion: true,

  defaults({ overhead }) {
    roundToMilli(overhead?.podFixed);
  },
  validate: checkRuntimeClass,
  validateUpdate(runtimeClass, old, errors) {
    checkRuntimeClass(runtimeClass, errors);
    checkImmutable(errors, 'handler', runtimeClass.handler, old.handler);
  },

  columns: [nameColumn, { name: 'Handler', type: 'string' }, ageColumn],
  row: (runtimeClass, context) => [
    runtimeClass.metadata.name ?? '',
    runtimeClass.handler,
    age(runtimeClass, context),
  ],
};

function checkRuntimeClass({ handler, overhead, scheduling }: RuntimeClass, errors: FieldErrors): void {
  if (handler === '') errors.required('handler');
  else errors.invalidFor('handler', handler, dnsLabelProblems(handler));
  checkOverhead(errors, 'overhead', overhead?.podFixed);
  checkLabels(errors, 'scheduling.nodeSelector', scheduling?.nodeSelector);
  checkDistinctTolerations(errors, 'scheduling.tolerations', scheduling?.tolerations ?? []);
}

function checkDistinctTolerations(
  errors: FieldErrors,
  field: string,
  tolerations: readonly Toleration[],
): void {
  checkTolerations(errors, field, tolerations);
  const seen = new Set<string>();
  tolerations.forEach((toleration, index) => {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds = null } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) {
      const shown = {
        Key: key,
        Operator: operator,
        Value: value,
        Effect: effect,
        TolerationSeconds: tolerationSeconds,
      };
      errors.duplicate(`${field}[${index}]`, shown);
    }
    seen.add(identity);
  });
}
