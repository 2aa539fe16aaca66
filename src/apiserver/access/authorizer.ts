import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef } from '../../kube/api/stored/rbac.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import type { Registry, RegistryEvent, WatchHandle } from '../registry/registry.ts';
import type { Attributes } from './attributes.ts';
import { RuleIndex } from './rule-index.ts';
import { ruleAllows } from './rule-match.ts';
import { isMaster, type User } from './user.ts';

export interface Decision {
  readonly isAllowed: boolean;
  /** The binding that allows it, or roles that could not be resolved; usually empty if not allowed. */
  readonly reason: string;
}

export interface EffectiveRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that could not be resolved; empty if none. */
  readonly problem: string;
}

/**
 * Authorizes by RBAC roles and bindings, which it watches. The store notifies watchers of a write before the writer
 * gets a response, so a client that has observed a change of a binding is always judged by the new state.
 */
export class Authorizer {
  readonly #index = new RuleIndex();
  readonly #watches: WatchHandle[] = [];

  private constructor() {}

  static async start(registry: Registry): Promise<Authorizer> {
    const authorizer = new Authorizer();
    await authorizer.#watchAll(registry);
    return authorizer;
  }

  decide(user: User, attributes: Attributes): Decision {
    if (isMaster(user)) return { isAllowed: true, reason: '' };
    const namespace = attributes.kind === 'resource' ? attributes.namespace : '';
    const { rules, missing } = this.#index.rulesFor(user, namespace);
    for (const { rule, source } of rules) {
      if (ruleAllows(rule, attributes)) return { isAllowed: true, reason: `RBAC: allowed by ${source()}` };
    }
    const problem = aggregateErrors(missing.map(missingRole));
    return { isAllowed: false, reason: problem === '' ? '' : `RBAC: ${problem}` };
  }

  /** All rules of a user in a namespace, or cluster-wide if it is empty. `describe` formats the message about a missing role. */
  rulesFor(user: User, namespace: string, describe: (role: RoleRef) => string = missingRole): EffectiveRules {
    const { rules, missing } = this.#index.rulesFor(user, namespace);
    return { rules: rules.map(({ rule }) => rule), problem: aggregateErrors(missing.map(describe)) };
  }

  rulesOfRole(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#index.rulesOf(role, namespace);
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  async #watchAll(registry: Registry): Promise<void> {
    for (const [plural, isBinding] of watchedKinds) {
      const kind = registry.kinds.byPlural('rbac.authorization.k8s.io/v1', plural);
      if (kind === undefined) continue;
      const handle = isBinding ? this.#handleBinding : this.#handleRole;
      // No `failed` callback: continuing after a lost event could admit a user whose access was just revoked.
      this.#watches.push(
        await registry.watch(kind, {}, { events: (events) => handleEvents(events, handle) }),
      );
    }
  }

  readonly #handleRole: ObjectHandler = (object, isDeleted) => {
    const role = object as ClusterRole;
    if (isDeleted) this.#index.removeRole(role);
    else this.#index.putRole(role);
  };

  readonly #handleBinding: ObjectHandler = (object, isDeleted) => {
    const binding = object as ClusterRoleBinding;
    if (isDeleted) this.#index.removeBinding(binding);
    else this.#index.putBinding(binding);
  };
}

const watchedKinds = [
  ['roles', false],
  ['clusterroles', false],
  ['rolebindings', true],
  ['clusterrolebindings', true],
] as const;

type ObjectHandler = (object: StoredObject, isDeleted: boolean) => void;

function handleEvents(events: readonly RegistryEvent[], handle: ObjectHandler): void {
  for (const event of events) {
    if (event.type !== 'BOOKMARK') handle(event.snapshot.object, event.type === 'DELETED');
  }
}

/** The message of Kubernetes' caches. */
function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}

/** Go's error aggregate: each message once, in brackets if there are several. */
function aggregateErrors(problems: readonly string[]): string {
  const messages = [...new Set(problems)];
  return messages.length > 1 ? `[${messages.join(', ')}]` : (messages[0] ?? '');
}
