import type { Kind, StoredObject } from '../../kinds/served-kind.ts';
import type { RegistryContext } from '../context/context.ts';
import type { UpdateContext } from '../registry.ts';

/** A write on its way to the store. `object` may be changed. */
export interface Attempt {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: Kind;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
  readonly write: UpdateContext;
}

/** A rule that looks at writes: changes the object, lets it pass, or throws. */
export type AdmissionRule = (context: RegistryContext, attempt: Attempt) => void;

export function isKind({ kind }: Attempt, group: string, name: string): boolean {
  return kind.kind === name && kind.group === group;
}
