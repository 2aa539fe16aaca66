import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef } from '../../kube/api/stored/rbac.ts';
import { failure, forbidden, notFound } from '../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import type { GuardedChange, WriteGuard } from '../registry/registry.ts';
import { forbiddenError } from './access-errors.ts';
import type { ResourceAttributes } from './attributes.ts';
import type { Authorizer } from './authorizer.ts';
import { describeRules, formatGoStrings, uncoveredRules } from './rule-coverage.ts';
import { isMaster, type User } from './user.ts';

/**
 * Prevents privilege escalation: the writer of a role must hold all its permissions (or the verb `escalate`), the
 * writer of a binding all permissions of the role (or the verb `bind`). Undefined for users who may do everything.
 */
export function escalationGuard(
  authorizer: Authorizer,
  user: User,
  request: ResourceAttributes,
): WriteGuard | undefined {
  if (isMaster(user)) return undefined;
  return new EscalationGuard(authorizer, user, request);
}

const group = 'rbac.authorization.k8s.io';
const roles: ReadonlySet<string> = new Set(['roles', 'clusterroles']);
const bindings: ReadonlySet<string> = new Set(['rolebindings', 'clusterrolebindings']);

class EscalationGuard implements WriteGuard {
  readonly #authorizer: Authorizer;
  readonly #user: User;
  readonly #request: ResourceAttributes;

  constructor(authorizer: Authorizer, user: User, request: ResourceAttributes) {
    this.#authorizer = authorizer;
    this.#user = user;
    this.#request = request;
  }

  checkGrant(change: GuardedChange): void {
    if (change.operation === 'DELETE' || change.kind.group !== group) return;
    // Identified by the stored plural: the kind in an object could be that of a custom definition.
    if (roles.has(change.kind.plural)) this.#checkRole(change);
    if (bindings.has(change.kind.plural)) this.#checkBinding(change);
  }

  checkCreate({ object }: GuardedChange): void {
    if (this.#request.verb === 'create') return;
    const attributes = { ...this.#request, verb: 'create', name: object.metadata.name ?? '' };
    const { isAllowed, reason } = this.#authorizer.decide(this.#user, attributes);
    if (!isAllowed) throw forbiddenError(this.#user, attributes, reason);
  }

  #checkRole(change: GuardedChange): void {
    if (this.#may({ ...this.#request, verb: 'escalate', subresource: '' })) return;
    if (changesOnlyGarbageCollectionFields(change)) return;
    const role = change.object as ClusterRole;
    this.#confirm(change, role.rules ?? []);
    const old = change.old as ClusterRole | undefined;
    // An aggregated role can obtain any permission, and the roles that it aggregates later are not checked.
    if (!isAggregated(role) && !isAggregated(old)) return;
    if (this.#problemWith(fullAuthority) === undefined) return;
    throw this.#refusal(change, 'must have cluster-admin privileges to use the aggregationRule');
  }

  #checkBinding(change: GuardedChange): void {
    if (changesOnlyGarbageCollectionFields(change)) return;
    const { roleRef } = change.object as ClusterRoleBinding;
    const namespace = change.object.metadata.namespace ?? '';
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    const isKnown = roleRef.kind === 'ClusterRole' || roleRef.kind === 'Role';
    const bound = {
      kind: 'resource',
      group: roleRef.apiGroup,
      resource,
      subresource: '',
      namespace,
    } as const;
    if (isKnown && this.#may({ ...bound, verb: 'bind', name: roleRef.name })) return;
    this.#confirm(change, this.#rulesOf(roleRef, namespace));
  }

  #rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] {
    if (role.kind !== 'Role' && role.kind !== 'ClusterRole') {
      throw failure(500, undefined, `unsupported role reference kind: ${JSON.stringify(role.kind)}`);
    }
    const rules = this.#authorizer.rulesOfRole(role, namespace);
    if (rules === undefined) throw this.#roleNotFound(role);
    return rules;
  }

  #confirm(change: GuardedChange, rules: readonly PolicyRule[]): void {
    const problem = this.#problemWith(rules);
    if (problem !== undefined) throw this.#refusal(change, problem);
  }

  #problemWith(rules: readonly PolicyRule[]): string | undefined {
    const describe = (role: RoleRef) => this.#roleNotFound(role).message;
    const held = this.#authorizer.rulesFor(this.#user, this.#request.namespace, describe);
    const missing = uncoveredRules(held.rules, rules);
    if (missing.length === 0) return undefined;
    const { name, groups } = this.#user;
    const who = `user ${JSON.stringify(name)} (groups=${formatGoStrings(groups)})`;
    const described = describeRules(missing).join('\n');
    const rest = held.problem === '' ? '' : `; resolution errors: [${held.problem}]`;
    return `${who} is attempting to grant RBAC permissions not currently held:\n${described}${rest}`;
  }

  #refusal({ kind, object }: GuardedChange, why: string) {
    return forbidden({ group: kind.group, plural: kind.plural }, object.metadata.name ?? '', why);
  }

  /** For a missing role, Kubernetes reports the requested resource as not found. */
  #roleNotFound({ name }: RoleRef) {
    return notFound({ group, plural: this.#request.resource }, name);
  }

  #may(attributes: ResourceAttributes): boolean {
    return this.#authorizer.decide(this.#user, attributes).isAllowed;
  }
}

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function isAggregated(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

/** The garbage collector removes finalizers and owner references from any object. */
function changesOnlyGarbageCollectionFields({ object, old }: GuardedChange): boolean {
  if (old === undefined) return false;
  const { ownerReferences, finalizers, managedFields } = old.metadata;
  const metadata = { ...object.metadata, ownerReferences, finalizers, managedFields };
  return isSemanticallyEqual({ ...object, metadata }, old);
}
