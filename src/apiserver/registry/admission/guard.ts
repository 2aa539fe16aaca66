import type { RegistryContext } from '../context/context.ts';
import type { Attempt } from './attempt.ts';

/** Nobody gives away what he does not have. */
export function checkGrant(_: RegistryContext, attempt: Attempt): void {
  attempt.write.guard?.checkGrant(attempt);
}

/** PUT and apply make what is not there, which takes the right to make it. */
export function checkCreateByChange(_: RegistryContext, attempt: Attempt): void {
  if (attempt.operation === 'CREATE') attempt.write.guard?.checkCreate(attempt);
}
