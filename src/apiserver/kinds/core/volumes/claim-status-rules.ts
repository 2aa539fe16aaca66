import type { PersistentVolumeClaim } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { qualifiedNameProblems } from '../../../validation/names.ts';
import { checkNonNegativeQuantity } from '../../../validation/quantities.ts';
import { checkBasicResource } from './volume-spec-rules.ts';

/** Kubernetes does not validate the phase. */
export function checkClaimStatus(errors: FieldErrors, { spec, status }: PersistentVolumeClaim): void {
  if ((spec.accessModes ?? []).length === 0) errors.required('Spec.accessModes');
  for (const [name, text] of Object.entries(status.capacity ?? {})) {
    checkBasicResource(errors, `status.capacity[${name}]`, text);
  }
  for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    checkResourceName(errors, 'status.allocatedResourceStatuses', name);
    if (!resizeStates.includes(state)) {
      errors.notSupported('status.allocatedResourceStatuses', name, resizeStates);
    }
  }
  for (const [name, text] of Object.entries(status.allocatedResources ?? {})) {
    checkAllocated(errors, 'status.allocatedResources', name, text);
  }
}

/** Sorted, as errors list them. */
const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

function checkAllocated(errors: FieldErrors, field: string, name: string, text: string): void {
  const before = errors.count;
  checkResourceName(errors, field, name);
  if (errors.count > before) return;
  checkBasicResource(errors, `${field}[${name}]`, text);
  if (errors.count === before) checkNonNegativeQuantity(errors, `${field}[${name}]`, text);
}

/** Rejects native resources other than storage; resource names with a domain are not restricted. */
function checkResourceName(errors: FieldErrors, field: string, name: string): void {
  const problems = qualifiedNameProblems(name);
  errors.invalidFor(field, name, problems);
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  if (problems.length === 0 && isNative && name !== 'storage') errors.notSupported(field, name, ['storage']);
}
