import { invalid } from '../../../kube/api-error.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import { listAllObjects, type RegistryContext } from '../context/registry-context.ts';

/**
 * Lets the kind allocate unique values, such as addresses. Nothing awaits until the object is stored, so no other
 * object gets the same.
 */
export function allocate(context: RegistryContext, kind: ServedKind, object: StoredObject): void {
  if (kind.allocate === undefined) return;
  const errors = new FieldErrors();
  const { namespace, name = '' } = object.metadata;
  const others = listAllObjects(context, kind).filter(
    ({ metadata }) => metadata.name !== name || metadata.namespace !== namespace,
  );
  kind.allocate(object, others, errors);
  if (!errors.isEmpty) throw invalid(kind, name, errors.causes);
}
