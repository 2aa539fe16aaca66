import type { Namespace } from '../../../kube/api/stored/core.ts';
import { forbidden, notFound } from '../../../kube/api-error.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import type { WriteAttempt } from './write-attempt.ts';

/** Namespaces that cannot be deleted. */
const protectedNamespaces = new Set(['default', 'kube-system', 'kube-public']);

/** Requires an existing namespace; a terminating namespace accepts no new objects. */
export function checkNamespaceLifecycle(context: RegistryContext, attempt: WriteAttempt): void {
  const { operation, kind, object } = attempt;
  const { name = '', namespace = '' } = object.metadata;
  const namespaces = context.kinds.byPlural('v1', 'namespaces');
  if (kind === namespaces) {
    if (operation === 'DELETE' && protectedNamespaces.has(name)) {
      throw forbidden(kind, name, 'this namespace may not be deleted');
    }
    return;
  }
  if (!kind.namespaced || operation === 'DELETE' || namespaces === undefined) return;
  const found = findObject(context, namespaces, { name: namespace });
  if (found === undefined) throw notFound(namespaces, namespace);
  const isEnding = (found.snapshot.object as Namespace).status?.phase === 'Terminating';
  if (operation === 'CREATE' && isEnding) {
    throw forbidden(
      kind,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
}
