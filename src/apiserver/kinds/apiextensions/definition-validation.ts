import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from '../../../kube/api/stored/apiextensions.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { checkApproval } from './api-approval.ts';
import { isConditionTrue } from './definition-conditions.ts';
import { checkNameSyntax } from './definition-names.ts';
import { checkSpec } from './spec-validation.ts';

/**
 * The rules for definitions. Kubernetes lets an update keep violations of the stored definition, because definitions
 * may be older than a rule. Here every stored definition has satisfied all rules, so updates need no exceptions.
 */
export function checkDefinition(definition: CustomResourceDefinition, errors: FieldErrors): void {
  checkOwnName(definition, errors);
  checkSpec(definition.spec, errors);
  checkStatusAndApproval(definition, undefined, errors);
}

export function checkDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  errors: FieldErrors,
): void {
  const { spec } = definition;
  checkSpec(spec, errors);
  if (isConditionTrue(old, 'Established')) {
    checkImmutable(errors, 'spec.scope', spec.scope, old.spec.scope);
    checkImmutable(errors, 'spec.names.kind', spec.names.kind, old.spec.names.kind);
  }
  checkImmutable(errors, 'spec.group', spec.group, old.spec.group);
  checkImmutable(errors, 'spec.names.plural', spec.names.plural, old.spec.names.plural);
  checkStatusAndApproval(definition, old, errors);
}

export function checkDefinitionStatus(
  { status }: CustomResourceDefinition,
  _old: CustomResourceDefinition,
  errors: FieldErrors,
): void {
  checkAcceptedNames(status, errors);
}

/** The name is derived from what is defined, so nothing can be defined twice. */
function checkOwnName({ metadata, spec }: CustomResourceDefinition, errors: FieldErrors): void {
  const expected = `${spec.names.plural}.${spec.group}`;
  for (const field of ['generateName', 'name'] as const) {
    const name = metadata[field] ?? '';
    if (name === '' || name === expected) continue;
    errors.invalid(`metadata.${field}`, name, 'must be spec.names.plural+"."+spec.group');
  }
}

function checkStatusAndApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  errors: FieldErrors,
): void {
  checkAcceptedNames(definition.status, errors);
  checkStoredVersions(definition, errors);
  checkApproval(definition, old, errors);
  if (definition.spec.preserveUnknownFields === true) {
    const instead = 'set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.invalid('spec.preserveUnknownFields', true, `cannot set to true, ${instead}`);
  }
}

function checkAcceptedNames({ acceptedNames }: CustomResourceDefinitionStatus, errors: FieldErrors): void {
  checkNameSyntax(acceptedNames, 'status.acceptedNames', errors);
}

/** A version in which objects are stored must not be removed: nothing else could read these objects. */
function checkStoredVersions({ spec, status }: CustomResourceDefinition, errors: FieldErrors): void {
  const path = 'status.storedVersions';
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) {
    errors.invalid(path, status.storedVersions, 'must have at least one stored version');
    return;
  }
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !stored.includes(name)) {
      errors.invalid(path, stored, `must have the storage version ${name}`);
    }
  }
  for (const [index, name] of stored.entries()) {
    if (spec.versions?.some((version) => version.name === name)) continue;
    errors.invalid(`${path}[${index}]`, name, missingVersion(name));
  }
}

function missingVersion(name: string): string {
  return `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
}
