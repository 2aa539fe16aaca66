import type { RegistryContext } from '../context/registry-context.ts';
import type { WriteAttempt } from './write-attempt.ts';

/** The writer must hold the permissions that the object grants. */
export function checkGrant(_: RegistryContext, attempt: WriteAttempt): void {
  attempt.write.guard?.checkGrant(attempt);
}

/** PUT and apply create a missing object, which requires the permission to create. */
export function checkImplicitCreate(_: RegistryContext, attempt: WriteAttempt): void {
  if (attempt.operation === 'CREATE') attempt.write.guard?.checkCreate(attempt);
}
