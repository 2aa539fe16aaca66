import type { UserInfo } from '../../kube/api/stored/authentication.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../validation/names.ts';

/** Whoever sends a request. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  /** What else is known of him; keys are in lower case. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const mastersGroup = 'system:masters';

/** Whoever has the token that the server wrote into its kubeconfig. */
export const admin: User = { name: 'stowage-admin', groups: [mastersGroup, authenticatedGroup] };

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

/** Masters may do everything; no rule is asked. */
export function isMaster({ groups }: User): boolean {
  return groups.includes(mastersGroup);
}

export function accountUserName(namespace: string, name: string): string {
  return `${accountPrefix}${namespace}:${name}`;
}

export function accountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

export interface AccountKey {
  readonly namespace: string;
  readonly name: string;
}

/** Whose name it is; undefined where it is not that of a service account. */
export function parseAccountUserName(userName: string): AccountKey | undefined {
  if (!userName.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = userName.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  const problems = [...dnsLabelProblems(namespace), ...dnsSubdomainProblems(name)];
  return problems.length > 0 ? undefined : { namespace, name };
}

/** As the API tells it. */
export function toUserInfo({ name, uid = '', groups, extra = {} }: User): UserInfo {
  const known = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(known.length === 0 ? {} : { extra: Object.fromEntries(known) }),
  };
}

const accountPrefix = 'system:serviceaccount:';
