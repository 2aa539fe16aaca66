import type { PersistentVolume } from '../../../kube/api/core.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { ReadAll } from '../context/operator-rules.ts';
import { listAllObjects, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** Applies the operator's rules to a new object. */
export function applyOperatorRules(context: RegistryContext, attempt: WriteAttempt): void {
  const rule = context.rules?.persistentVolumes;
  if (rule === undefined || attempt.operation !== 'CREATE' || !isKind(attempt, '', 'PersistentVolume'))
    return;
  const all: ReadAll = (resource, namespace) => {
    const kind = context.kinds.byPlural(apiVersionOf(resource), resource.plural);
    return kind === undefined ? [] : (listAllObjects(context, kind, namespace) as unknown as never[]);
  };
  Object.assign(attempt.object, rule(attempt.object as PersistentVolume, all));
}
