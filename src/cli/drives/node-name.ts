import { hostname } from 'node:os';

/** The Node of this machine. Most kubelets register it under the host's name in lowercase. */
export function nodeNameOf(flag: string | undefined): string {
  return flag ?? hostname().toLowerCase();
}
