import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../kube/api/stored/rbac.ts';
import { accountUserName, type User } from './user.ts';

type AnyRole = Role | ClusterRole;
type AnyBinding = RoleBinding | ClusterRoleBinding;

/** A rule that somebody has, and where he has it from. */
export interface GrantedRule {
  readonly rule: PolicyRule;
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`; made when it is read. */
  readonly source: () => string;
}

/** Rules, and roles that are bound but not there. */
export interface GrantedRules {
  readonly rules: readonly GrantedRule[];
  readonly missing: readonly RoleRef[];
}

/**
 * All roles, and all bindings by whom they are for: what somebody may do is found by his name and his groups, however many bindings
 * there are. In the order of their names, so that the same question has the same answer.
 */
export class RuleIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, AnyBinding>();
  /** By the namespace ('' for the cluster) and the subject. */
  readonly #bySubject = new Map<string, Set<AnyBinding>>();

  putRole(role: AnyRole): void {
    this.#roles.set(keyOf(role), role.rules ?? []);
  }

  removeRole(role: AnyRole): void {
    this.#roles.delete(keyOf(role));
  }

  putBinding(binding: AnyBinding): void {
    this.removeBinding(binding);
    this.#bindings.set(keyOf(binding), binding);
    for (const key of subjectKeys(binding)) {
      const found = this.#bySubject.get(key);
      if (found === undefined) this.#bySubject.set(key, new Set([binding]));
      else found.add(binding);
    }
  }

  removeBinding(binding: AnyBinding): void {
    const old = this.#bindings.get(keyOf(binding));
    if (old === undefined) return;
    this.#bindings.delete(keyOf(old));
    for (const key of subjectKeys(old)) {
      const found = this.#bySubject.get(key);
      found?.delete(old);
      if (found?.size === 0) this.#bySubject.delete(key);
    }
  }

  /** What a role allows; undefined where there is none of that name. */
  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(kind === 'ClusterRole' ? `/${name}` : `${namespace}/${name}`);
  }

  /** Rules that hold everywhere, then those of the namespace, where one is given. */
  rulesFor(user: User, namespace: string): GrantedRules {
    const missing: RoleRef[] = [];
    const rules: GrantedRule[] = [];
    for (const binding of this.#bindingsFor(user, namespace)) {
      const scope = namespaceOf(binding);
      const found = this.rulesOf(binding.roleRef, scope);
      if (found === undefined) missing.push(binding.roleRef);
      const source = () => sourceText(binding, user);
      for (const rule of found ?? []) rules.push({ rule, source });
    }
    return { rules, missing };
  }

  #bindingsFor(user: User, namespace: string): readonly AnyBinding[] {
    const everywhere = this.#bindingsIn(user, '');
    return namespace === '' ? everywhere : [...everywhere, ...this.#bindingsIn(user, namespace)];
  }

  #bindingsIn({ name, groups }: User, namespace: string): readonly AnyBinding[] {
    const found = new Set(this.#bySubject.get(userKey(namespace, name)));
    for (const group of groups) {
      for (const binding of this.#bySubject.get(groupKey(namespace, group)) ?? []) found.add(binding);
    }
    return [...found].sort(byName);
  }
}

function namespaceOf({ metadata }: AnyRole | AnyBinding): string {
  return metadata.namespace ?? '';
}

function keyOf(object: AnyRole | AnyBinding): string {
  return `${namespaceOf(object)}/${object.metadata.name ?? ''}`;
}

function byName(a: AnyBinding, b: AnyBinding): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/** No name of a namespace has a blank in it. */
function userKey(namespace: string, name: string): string {
  return `${namespace} user ${name}`;
}

function groupKey(namespace: string, name: string): string {
  return `${namespace} group ${name}`;
}

function subjectKeys(binding: AnyBinding): readonly string[] {
  const namespace = namespaceOf(binding);
  return (binding.subjects ?? []).flatMap((subject) => {
    const userName = userNameOf(subject, namespace);
    if (userName !== undefined) return [userKey(namespace, userName)];
    return subject.kind === 'Group' ? [groupKey(namespace, subject.name)] : [];
  });
}

/** A service account is a user too; one that names no namespace is of the binding's. */
function userNameOf({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return name;
  if (kind !== 'ServiceAccount') return undefined;
  const home = namespace === '' ? bindingNamespace : namespace;
  return home === '' ? undefined : accountUserName(home, name);
}

function sourceText(binding: AnyBinding, user: User): string {
  const namespace = namespaceOf(binding);
  const { kind, roleRef, metadata, subjects = [] } = binding;
  const subject = subjects.find((candidate) => appliesTo(candidate, user, namespace));
  const name = namespace === '' ? (metadata.name ?? '') : `${metadata.name}/${namespace}`;
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `${kind} ${JSON.stringify(name)} of ${role} to ${subjectText(subject, namespace)}`;
}

function appliesTo(subject: Subject, user: User, namespace: string): boolean {
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  return userNameOf(subject, namespace) === user.name;
}

/** Name and namespace of an account are told in this order. */
function subjectText(subject: Subject | undefined, bindingNamespace: string): string {
  if (subject === undefined) return '';
  const { kind, name, namespace = '' } = subject;
  const home = namespace === '' ? bindingNamespace : namespace;
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${home}` : name)}`;
}
