import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef } from '../../kube/api/stored/rbac.ts';
import type { StoredObject } from '../kinds/served-kind.ts';
import type { Registry, RegistryEvent, WatchHandle } from '../registry/registry.ts';
import type { Attributes } from './attributes.ts';
import { RuleIndex } from './rule-index.ts';
import { ruleAllows } from './rule-match.ts';
import { isMaster, type User } from './user.ts';

export interface Decision {
  readonly isAllowed: boolean;
  /** By which binding, or what could not be looked at; mostly empty where it is not allowed. */
  readonly reason: string;
}

export interface EffectiveRules {
  readonly rules: readonly PolicyRule[];
  /** What could not be looked at; empty where there was nothing. */
  readonly problem: string;
}

/**
 * Says who may do what, by the roles and bindings that there are. It follows them as a watch does, and a store tells its watchers of
 * a write before whoever wrote has his answer: so nobody who has seen a binding come or go is judged by what was before.
 */
export class Authorizer {
  readonly #index = new RuleIndex();
  readonly #watches: WatchHandle[] = [];

  private constructor() {}

  static async start(registry: Registry): Promise<Authorizer> {
    const authorizer = new Authorizer();
    await authorizer.#follow(registry);
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

  /** All that somebody may do, in a namespace or (empty) for the whole cluster. `describe` words that a role is not there. */
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

  async #follow(registry: Registry): Promise<void> {
    for (const [plural, isBinding] of watchedKinds) {
      const kind = registry.kinds.byPlural('rbac.authorization.k8s.io/v1', plural);
      if (kind === undefined) continue;
      const take = isBinding ? this.#takeBinding : this.#takeRole;
      // No `failed`: who goes on without an event may let in whom somebody has just shut out.
      this.#watches.push(await registry.watch(kind, {}, { events: (events) => handleEvents(events, take) }));
    }
  }

  readonly #takeRole: ObjectHandler = (object, isGone) => {
    const role = object as ClusterRole;
    if (isGone) this.#index.removeRole(role);
    else this.#index.putRole(role);
  };

  readonly #takeBinding: ObjectHandler = (object, isGone) => {
    const binding = object as ClusterRoleBinding;
    if (isGone) this.#index.removeBinding(binding);
    else this.#index.putBinding(binding);
  };
}

const watchedKinds = [
  ['roles', false],
  ['clusterroles', false],
  ['rolebindings', true],
  ['clusterrolebindings', true],
] as const;

type ObjectHandler = (object: StoredObject, isGone: boolean) => void;

function handleEvents(events: readonly RegistryEvent[], take: ObjectHandler): void {
  for (const event of events) {
    if (event.type !== 'BOOKMARK') take(event.snapshot.object, event.type === 'DELETED');
  }
}

/** As Kubernetes' caches word it. */
function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}

/** As Go puts errors together: each once, in brackets where there are several. */
function aggregateErrors(problems: readonly string[]): string {
  const told = [...new Set(problems)];
  return told.length > 1 ? `[${told.join(', ')}]` : (told[0] ?? '');
}
