import type { UserInfo } from '../../kube/api/stored/authentication.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../validation/names.ts';

/** An authenticated or anonymous user. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  /** Extra fields; keys are lower case. */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const mastersGroup = 'system:masters';

/** The user of the token in the server's kubeconfig. */
export const admin: User = { name: 'stowage-admin', groups: [mastersGroup, authenticatedGroup] };

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

/** Members of system:masters may do everything; no rule is evaluated. */
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

/** Parses the user name of a service account; undefined for other users. */
export function parseAccountUserName(userName: string): AccountKey | undefined {
  if (!userName.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = userName.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  const problems = [...dnsLabelProblems(namespace), ...dnsSubdomainProblems(name)];
  return problems.length > 0 ? undefined : { namespace, name };
}

/** The user in the API's form. */
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
