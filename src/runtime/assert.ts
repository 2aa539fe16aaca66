/** An invariant of Stowage is broken: a bug in Stowage, never a property of user data. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Checks an invariant; asserted in pairs, where data is written and where it is read. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Ends an exhaustive switch: adding a case breaks the build here. */
export function unreachable(value: never): never {
  throw new InvariantError(`unhandled case: ${JSON.stringify(value)}`);
}
