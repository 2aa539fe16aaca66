import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import type { RegistryContext } from '../context/registry-context.ts';
import type { UpdateContext } from '../registry.ts';

/** A write before it is stored. Rules may change `object`. */
export interface WriteAttempt {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly kind: ServedKind;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
  readonly write: UpdateContext;
}

/** An admission rule: changes the object, accepts it, or throws. */
export type AdmissionRule = (context: RegistryContext, attempt: WriteAttempt) => void;

export function isKind({ kind }: WriteAttempt, group: string, name: string): boolean {
  return kind.kind === name && kind.group === group;
}
