import type { RegistryContext } from '../context/registry-context.ts';
import type { WriteAttempt } from './write-attempt.ts';

/** Nobody gives away what he does not have. */
export function checkGrant(_: RegistryContext, attempt: WriteAttempt): void {
  attempt.write.guard?.checkGrant(attempt);
}

/** PUT and apply make what is not there, which takes the right to make it. */
export function checkImplicitCreate(_: RegistryContext, attempt: WriteAttempt): void {
  if (attempt.operation === 'CREATE') attempt.write.guard?.checkCreate(attempt);
}
