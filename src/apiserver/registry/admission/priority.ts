import type { Pod } from '../../../kube/api/stored/core.ts';
import type { PriorityClass } from '../../../kube/api/stored/scheduling.ts';
import { forbidden } from '../../../kube/api-error.ts';
import { systemPriorityClasses } from '../../kinds/scheduling/priority-class.ts';
import { findObject, listAllObjects, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** Sets a pod's priority from its priority class or the default class. */
export function setPriority(context: RegistryContext, attempt: WriteAttempt): void {
  if (!isKind(attempt, '', 'Pod') || attempt.write.subresource !== undefined) return;
  const { spec } = attempt.object as Pod;
  if (spec === undefined) return;
  if (attempt.operation === 'UPDATE') {
    const before = (attempt.old as Pod).spec;
    spec.priority ??= before?.priority;
    spec.preemptionPolicy ??= before?.preemptionPolicy;
  } else if (attempt.operation === 'CREATE') {
    const { name, value, policy } = priorityFor(context, attempt, spec.priorityClassName ?? '');
    if (name !== '') spec.priorityClassName = name;
    checkGiven(attempt, 'integer value of priority', spec.priority, value);
    spec.priority = value;
    if (policy === undefined) return;
    checkGiven(attempt, 'string value of PreemptionPolicy', spec.preemptionPolicy, policy);
    spec.preemptionPolicy = policy;
  }
}

/** At most one class is the default; system classes cannot be deleted. */
export function checkPriorityClass(context: RegistryContext, attempt: WriteAttempt): void {
  const { kind, operation, object } = attempt;
  if (!isKind(attempt, 'scheduling.k8s.io', 'PriorityClass')) return;
  if (operation === 'DELETE') {
    if (!systemPriorityClasses.has(object.metadata.name ?? '')) return;
    const why = 'this is a system priority class and cannot be deleted';
    throw forbidden(kind, object.metadata.name ?? '', why);
  }
  if ((object as PriorityClass).globalDefault !== true) return;
  const other = defaultClass(context);
  if (other === undefined) return;
  if (operation === 'CREATE' || other.metadata.name !== object.metadata.name) {
    const taken = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw forbidden(kind, object.metadata.name ?? '', taken);
  }
}

interface Priority {
  readonly name: string;
  readonly value: number;
  readonly policy: string | undefined;
}

function priorityFor(context: RegistryContext, { kind, object }: WriteAttempt, name: string): Priority {
  if (name === '') {
    const chosen = defaultClass(context);
    return chosen === undefined ? { name: '', value: 0, policy: 'PreemptLowerPriority' } : priorityOf(chosen);
  }
  const classes = context.kinds.byPlural('scheduling.k8s.io/v1', 'priorityclasses');
  const found = classes && findObject(context, classes, { name });
  if (found === undefined) {
    throw forbidden(kind, object.metadata.name ?? '', `no PriorityClass with name ${name} was found`);
  }
  return priorityOf(found.snapshot.object as PriorityClass);
}

function priorityOf({ metadata, value, preemptionPolicy }: PriorityClass): Priority {
  return { name: metadata.name ?? '', value, policy: preemptionPolicy };
}

/** The default class. A race can create several defaults; then the one with the lowest value applies. */
function defaultClass(context: RegistryContext): PriorityClass | undefined {
  const kind = context.kinds.byPlural('scheduling.k8s.io/v1', 'priorityclasses');
  if (kind === undefined) return undefined;
  return listAllObjects<PriorityClass>(context, kind)
    .filter(({ globalDefault }) => globalDefault === true)
    .sort((a, b) => a.value - b.value)[0];
}

function checkGiven<T>(
  { kind, object }: WriteAttempt,
  what: string,
  given: T | undefined,
  computed: T,
): void {
  if (given === undefined || given === computed) return;
  throw forbidden(
    kind,
    object.metadata.name ?? '',
    `the ${what} (${given}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
  );
}
