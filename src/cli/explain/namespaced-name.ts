import { usage } from '../errors/cli-error.ts';

export interface NamespacedName {
  /** Undefined if the user gave none. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Parses `NAME` or `NAMESPACE/NAME`; the namespace may also come from `-n`. */
export function namespacedName(text: string, flag: string | undefined): NamespacedName {
  const parts = text.split('/');
  if (parts.length > 2 || parts.includes(''))
    throw usage(`"${text}" is not a valid name; write NAME or NAMESPACE/NAME`);
  const [own, name = own] = parts as [string, string?];
  const inName = parts.length === 2 ? own : undefined;
  if (inName !== undefined && flag !== undefined && inName !== flag)
    throw usage(`the name has namespace ${inName}, but -n is ${flag}; give only one`);
  return { namespace: inName ?? flag, name };
}
