import { badRequest } from '../../kube/api-error.ts';
import { FieldErrors } from '../validation/field-errors.ts';
import { dnsSubdomainProblems } from '../validation/names.ts';
import { forbiddenError } from './access-errors.ts';
import type { Attributes, ResourceAttributes } from './attributes.ts';
import type { Authorizer } from './authorizer.ts';
import {
  accountGroups,
  anonymous,
  authenticatedGroup,
  mastersGroup,
  parseAccountUserName,
  type User,
  unauthenticatedGroup,
} from './user.ts';

/** The user to impersonate, from the request's headers. */
export interface RequestedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Header names in lower case, each with all of its values. */
export type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

/** Undefined if the request impersonates no user. */
export function requestedUser(headers: HeaderValues): RequestedUser | undefined {
  const name = headers['impersonate-user']?.[0] ?? '';
  const uid = headers['impersonate-uid']?.[0] ?? '';
  const groups = headers['impersonate-group'] ?? [];
  const extra = extraOf(headers);
  if (name !== '') return { name, uid, groups, extra };
  const isAlone = uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
  if (isAlone) return undefined;
  throw badRequest(
    `requested ${formatGoUser({ name, uid, groups, extra })} without impersonating a user name`,
  );
}

export interface ImpersonationRequest {
  readonly requestor: User;
  readonly requested: RequestedUser;
  /** The action that the request performs as the impersonated user. */
  readonly attributes: Attributes;
}

/**
 * Determines the user that a request runs as. Impersonation has several modes: narrow ones that also limit what may be
 * done as the other user (`impersonate-on:MODE:VERB`), and the legacy mode that only checks the user. The first mode
 * that allows it applies; if none does, the first error is reported.
 */
export class Impersonator {
  readonly #authorizer: Authorizer;
  /** The mode that last succeeded for each requestor: it is tried first, so its error is the reported one. */
  readonly #lastModes = new Map<string, Mode>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  userFor(impersonation: ImpersonationRequest): User {
    const requestor = impersonation.requestor.name;
    const last = this.#lastModes.get(requestor);
    let firstError: Error | undefined;
    for (const mode of last === undefined ? modes : [last, ...modes.filter((other) => other !== last)]) {
      if (!mode.isFor(impersonation)) continue;
      const outcome = tryMode(new ModeCheck(this.#authorizer, impersonation, mode), impersonation);
      if (!(outcome instanceof Error)) {
        this.#remember(requestor, mode);
        return outcome;
      }
      firstError ??= outcome;
    }
    throw firstError ?? new Error('all impersonation modes failed');
  }

  #remember(requestor: string, mode: Mode): void {
    if (this.#lastModes.size >= requestorsMax) this.#lastModes.clear();
    this.#lastModes.set(requestor, mode);
  }
}

const requestorsMax = 1_024;

interface Mode {
  /** Undefined for the legacy mode. */
  readonly name: string | undefined;
  isFor(impersonation: ImpersonationRequest): boolean;
}

const modes: readonly Mode[] = [
  { name: 'associated-node', isFor: isAssociatedNode },
  {
    name: 'arbitrary-node',
    isFor: ({ requested }) => isNameOnly(requested) && nodeOf(requested.name) !== undefined,
  },
  {
    name: 'serviceaccount',
    isFor: ({ requested }) => isNameOnly(requested) && parseAccountUserName(requested.name) !== undefined,
  },
  {
    name: 'user-info',
    isFor: ({ requested }) =>
      nodeOf(requested.name) === undefined && parseAccountUserName(requested.name) === undefined,
  },
  { name: undefined, isFor: () => true },
];

function tryMode(check: ModeCheck, { requested }: ImpersonationRequest): User | Error {
  return (
    check.checkVerb() ??
    check.checkName() ??
    check.checkUid() ??
    check.checkGroups() ??
    check.checkExtra() ??
    impersonatedUser(requested, check.groups())
  );
}

/** From this number on, one check for `*` is tried before the individual checks. */
const wildcardCheckMin = 4;

/** The checks of one mode. Each returns an error, or undefined if it passes. */
class ModeCheck {
  readonly #authorizer: Authorizer;
  readonly #impersonation: ImpersonationRequest;
  readonly #mode: string | undefined;

  constructor(authorizer: Authorizer, impersonation: ImpersonationRequest, { name }: Mode) {
    this.#authorizer = authorizer;
    this.#impersonation = impersonation;
    this.#mode = name;
  }

  checkVerb(): Error | undefined {
    if (this.#mode === undefined) return undefined;
    const { attributes } = this.#impersonation;
    return this.#check({ ...attributes, verb: `impersonate-on:${this.#mode}:${attributes.verb}` });
  }

  checkName(): Error | undefined {
    const { name } = this.#impersonation.requested;
    const node = this.#mode === undefined ? undefined : nodeOf(name);
    if (node !== undefined) {
      const isOwn = this.#mode === 'associated-node';
      return this.#check(this.#about('nodes', isOwn ? '*' : node));
    }
    const account = parseAccountUserName(name);
    if (account === undefined) return this.#check(this.#about('users', name));
    return this.#check({ ...this.#about('serviceaccounts', account.name), namespace: account.namespace });
  }

  checkUid(): Error | undefined {
    const { uid } = this.#impersonation.requested;
    return uid === '' ? undefined : this.#check(this.#about('uids', uid));
  }

  checkGroups(): Error | undefined {
    const { groups } = this.#impersonation.requested;
    if (this.#mode !== undefined) {
      if (groups.includes('')) {
        return this.#refuse(this.#about('groups', ''), 'impersonating the empty string group is not allowed');
      }
      if (groups.includes(mastersGroup)) {
        const why = 'impersonating the system:masters group is not allowed';
        return this.#refuse(this.#about('groups', mastersGroup), why);
      }
      const isAll =
        groups.length >= wildcardCheckMin && this.#check(this.#about('groups', '*')) === undefined;
      if (isAll) return undefined;
    }
    return first(groups, (group) => this.#check(this.#about('groups', group)));
  }

  checkExtra(): Error | undefined {
    const { extra } = this.#impersonation.requested;
    const pairs = Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => [key, value] as const),
    );
    const about = this.#about('userextras', '');
    if (this.#mode !== undefined) {
      const problem = extraError(extra);
      if (problem !== undefined) return this.#refuse(about, problem);
      const all = { ...about, subresource: '*', name: '*' };
      if (pairs.length >= wildcardCheckMin && this.#check(all) === undefined) return undefined;
    }
    return first(pairs, ([key, value]) => this.#check({ ...about, subresource: key, name: value }));
  }

  /** The requested groups, or those implied by the user name. */
  groups(): readonly string[] {
    const { name, groups } = this.#impersonation.requested;
    if (groups.length > 0) return groups;
    if (this.#mode !== undefined && nodeOf(name) !== undefined) return ['system:nodes'];
    const account = parseAccountUserName(name);
    return account === undefined ? [] : accountGroups(account.namespace);
  }

  /** The legacy mode checks users, groups and service accounts in the core group. */
  #about(resource: string, name: string): ResourceAttributes {
    const isOld =
      this.#mode === undefined &&
      (resource === 'users' || resource === 'groups' || resource === 'serviceaccounts');
    return {
      kind: 'resource',
      verb: this.#mode === undefined ? 'impersonate' : `impersonate:${this.#mode}`,
      group: isOld ? '' : 'authentication.k8s.io',
      resource,
      subresource: '',
      namespace: '',
      name,
    };
  }

  #check(attributes: Attributes): Error | undefined {
    const { isAllowed, reason } = this.#authorizer.decide(this.#impersonation.requestor, attributes);
    return isAllowed ? undefined : this.#refuse(attributes, reason);
  }

  #refuse(attributes: Attributes, reason: string): Error {
    return forbiddenError(this.#impersonation.requestor, attributes, reason);
  }
}

function first<T>(items: readonly T[], check: (item: T) => Error | undefined): Error | undefined {
  for (const item of items) {
    const error = check(item);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** Adds `system:authenticated` or `system:unauthenticated`, which every user must have. */
function impersonatedUser({ name, uid, extra }: RequestedUser, groups: readonly string[]): User {
  const isAnonymous = name === anonymous.name;
  const isOutside = isAnonymous || groups.includes(unauthenticatedGroup);
  const own = isOutside ? unauthenticatedGroup : authenticatedGroup;
  return { name, uid, extra, groups: groups.includes(own) ? groups : [...groups, own] };
}

function isNameOnly({ uid, groups, extra }: RequestedUser): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

/** A service account may impersonate the node that its token names. */
function isAssociatedNode({ requestor, requested }: ImpersonationRequest): boolean {
  const node = nodeOf(requested.name);
  const own = requestor.extra?.['authentication.kubernetes.io/node-name'] ?? [];
  const isAccount = parseAccountUserName(requestor.name) !== undefined;
  return isNameOnly(requested) && isAccount && own.length === 1 && node !== undefined && own[0] === node;
}

const nodePrefix = 'system:node:';

function nodeOf(userName: string): string | undefined {
  const name = userName.slice(nodePrefix.length);
  return userName.startsWith(nodePrefix) && dnsSubdomainProblems(name).length === 0 ? name : undefined;
}

const extraPrefix = 'impersonate-extra-';

function extraOf(headers: HeaderValues): Readonly<Record<string, readonly string[]>> {
  // Clients choose the keys: a null prototype keeps inherited properties out.
  const extra: Record<string, readonly string[]> = Object.create(null);
  for (const [header, values = []] of Object.entries(headers)) {
    if (!header.startsWith(extraPrefix) || values.length === 0) continue;
    const key = unescapedKey(header.slice(extraPrefix.length));
    extra[key] = [...(extra[key] ?? []), ...values];
  }
  return extra;
}

function unescapedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // Not a valid escape: used verbatim.
    return key;
  }
}

/** kube-apiserver prints the parsed user as a Go struct. */
function formatGoUser({ name, uid, groups, extra }: RequestedUser): string {
  const list = (texts: readonly string[]) =>
    `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`;
  const listed = groups.length === 0 ? '[]string(nil)' : list(groups);
  const pairs = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const known = pairs.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`;
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${listed}, Extra:${known}}`;
}

/** An error message for invalid extra fields of an impersonated user; undefined if they are valid. */
function extraError(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problem = keyProblem(key);
    if (problem !== undefined) return `impersonating an invalid key in extra is not allowed: ${problem}`;
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    }
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

const pathFormat = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;
const pathPattern = new RegExp(`^${pathFormat}$`);

/** A valid key consists of a domain, a slash and a path. */
function keyProblem(key: string): string | undefined {
  const errors = new FieldErrors();
  const slash = key.indexOf('/');
  const [host, path] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
  if (host === '' || path === '') {
    errors.invalid('extra.key', key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    errors.invalidFor('extra.key', host, dnsSubdomainProblems(host));
    if (!pathPattern.test(path)) {
      errors.invalid('extra.key', path, `Invalid path (regex used for validation is '${pathFormat}')`);
    }
  }
  const messages = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  return messages.length > 1 ? `[${messages.join(', ')}]` : messages[0];
}
