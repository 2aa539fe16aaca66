import type { FieldErrors } from '../../../validation/field-errors.ts';
import { qualifiedNameProblems } from '../../../validation/names.ts';
import {
  isContainerResource,
  isExtendedResource,
  isNativeResource,
  isStandardResource,
} from './resource-names.ts';

export function checkResourceName(errors: FieldErrors, field: string, name: string): void {
  const problems = qualifiedNameProblems(name);
  errors.invalidFor(field, name, problems);
  if (problems.length === 0 && !name.includes('/') && !isStandardResource(name)) {
    errors.invalid(field, name, 'must be a standard resource type or fully qualified');
  }
}

export function checkContainerResourceName(errors: FieldErrors, field: string, name: string): void {
  checkResourceName(errors, field, name);
  if (!name.includes('/')) {
    if (!isContainerResource(name)) errors.invalid(field, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.invalid(field, name, "doesn't follow extended resource name standard");
  }
}
