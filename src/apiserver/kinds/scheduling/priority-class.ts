import type { PriorityClass } from '../../../kube/api/stored/scheduling.ts';
import { checkRequiredEnum } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';

/** Admission checks that there is only one default class: that needs the other classes. */
export const priorityClassKind: ServedKind<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  namespaced: false,
  type: 'scheduling.k8s.io/v1.PriorityClass',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: false,
  hasGeneration: true,
  /** The generation is set at creation and never changes. */
  incrementsGeneration: () => false,

  defaults(priorityClass) {
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
  },
  validate(priorityClass, errors) {
    checkValue(priorityClass, errors);
    const { preemptionPolicy } = priorityClass;
    if (preemptionPolicy !== undefined) {
      checkRequiredEnum(errors, 'preemptionPolicy', preemptionPolicy, ['PreemptLowerPriority', 'Never']);
    }
  },
  validateUpdate(priorityClass, old, errors) {
    if (priorityClass.value !== old.value) errors.forbidden('value', 'may not be changed in an update.');
    checkImmutable(errors, 'preemptionPolicy', priorityClass.preemptionPolicy, old.preemptionPolicy);
  },

  columns: [
    nameColumn,
    { name: 'Value', type: 'integer' },
    { name: 'Global-Default', type: 'boolean' },
    ageColumn,
    { name: 'PreemptionPolicy', type: 'string' },
  ],
  row(priorityClass, context) {
    return [
      priorityClass.metadata.name ?? '',
      priorityClass.value,
      priorityClass.globalDefault ?? false,
      age(priorityClass, context),
      priorityClass.preemptionPolicy ?? '',
    ];
  },
};

/** The classes that exist in every cluster. */
export const systemPriorityClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

const userValueMax = 1_000_000_000;

function checkValue({ metadata, value, globalDefault = false }: PriorityClass, errors: FieldErrors): void {
  const name = metadata.name ?? '';
  if (name.startsWith('system-')) {
    const problem = systemClassProblem(name, value, globalDefault);
    if (problem !== undefined) {
      const detail = `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`;
      errors.forbidden('metadata.name', detail);
    }
  } else if (value > userValueMax) {
    errors.forbidden('value', `maximum allowed value of a user defined priority is ${userValueMax}`);
  }
}

function systemClassProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  const expected = systemPriorityClasses.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
