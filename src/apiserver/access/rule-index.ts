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

/** A rule that a user has, and its source. */
export interface GrantedRule {
  readonly rule: PolicyRule;
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`; formatted on demand. */
  readonly source: () => string;
}

/** A user's rules, and bound roles that do not exist. */
export interface GrantedRules {
  readonly rules: readonly GrantedRule[];
  readonly missing: readonly RoleRef[];
}

/**
 * Indexes roles by name and bindings by subject, so that the cost of a lookup grows with the user's bindings, not with the bindings of the cluster.
 * Bindings are sorted by name, so that results are deterministic.
 */
export class RuleIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, AnyBinding>();
  /** Bindings by namespace ('' for cluster scope) and subject. */
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

  /** The rules of a role; undefined if it does not exist. */
  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(kind === 'ClusterRole' ? `/${name}` : `${namespace}/${name}`);
  }

  /** Cluster-wide rules, then those of the namespace if one is given. */
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

/** Unambiguous: namespace names contain no spaces. */
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

/** The user name of a subject. A service account without a namespace belongs to the binding's. */
function userNameOf({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User') return name;
  if (kind !== 'ServiceAccount') return undefined;
  const accountNamespace = namespace === '' ? bindingNamespace : namespace;
  return accountNamespace === '' ? undefined : accountUserName(accountNamespace, name);
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

/** Kubernetes prints an account as name/namespace. */
function subjectText(subject: Subject | undefined, bindingNamespace: string): string {
  if (subject === undefined) return '';
  const { kind, name, namespace = '' } = subject;
  const accountNamespace = namespace === '' ? bindingNamespace : namespace;
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${accountNamespace}` : name)}`;
}
