import type { Binding } from '../../../../kube/api/stored/core.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';

/** Validates the body of a POST to pods/binding. */
export function checkPodBinding({ target }: Binding, errors: FieldErrors): void {
  const { kind = '', name = '' } = target;
  if (kind !== '' && kind !== 'Node') errors.notSupported('target.kind', kind, ['Node', '<empty>']);
  if (name === '') errors.required('target.name');
}
