import type { ClusterRole, PolicyRule } from '../../kube/api/stored/rbac.ts';
import { isReason } from '../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../kube/deep-equal.ts';
import { compileLabelSelector, matchesLabels } from '../../kube/selectors/label-selector.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { Registry, RegistryEvent, UpdateContext, WatchHandle } from '../registry/registry.ts';

export interface RoleAggregationOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** Called with unexpected errors and write failures; the controller keeps running. */
  onError(error: unknown, where: string): void;
}

const retryMs = 1_000;

const manager = 'clusterrole-aggregation-controller';
const write: UpdateContext = {
  manager,
  user: `system:serviceaccount:kube-system:${manager}`,
  warn: () => {},
};

/**
 * Fills the rules of aggregated ClusterRoles. It writes the same as Kubernetes' controller of this name, under its
 * name, so both may run.
 */
export class RoleAggregation {
  readonly #options: RoleAggregationOptions;
  readonly #kind: ServedKind;
  readonly #roles = new Map<string, ClusterRole>();
  #isClosed = false;
  #retry: Timer | undefined;
  #watch: WatchHandle | undefined;
  #isStale = false;
  #work: Promise<void> | undefined;

  private constructor(options: RoleAggregationOptions, kind: ServedKind) {
    this.#options = options;
    this.#kind = kind;
  }

  static async start(options: RoleAggregationOptions): Promise<RoleAggregation> {
    const kind = options.registry.kinds.byPlural('rbac.authorization.k8s.io/v1', 'clusterroles');
    if (kind === undefined) throw new Error('ClusterRoles are not served');
    const controller = new RoleAggregation(options, kind);
    // No `failed` callback: a role must not keep rules that were removed from the roles it aggregates.
    controller.#watch = await options.registry.watch(
      kind,
      {},
      { events: (events) => controller.#observe(events) },
    );
    return controller;
  }

  /** Resolves when all observed changes have been aggregated. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#watch?.close();
    await this.#work;
  }

  #observe(events: readonly RegistryEvent[]): void {
    for (const event of events) {
      if (event.type === 'BOOKMARK') continue;
      const role = event.snapshot.object as ClusterRole;
      const { name = '' } = role.metadata;
      if (event.type === 'DELETED') this.#roles.delete(name);
      else this.#roles.set(name, role);
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#isStale = true;
    this.#work ??= this.#run();
  }

  /** Scheduled outside of the work, so that `settled` does not wait for a full disk. */
  #scheduleRetry(): void {
    this.#retry?.cancel();
    this.#retry = this.#options.clock.after(retryMs, () => this.#schedule());
  }

  async #run(): Promise<void> {
    // Batches the events of this turn.
    await Promise.resolve();
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      for (const { role, rules } of outdatedRoles([...this.#roles.values()])) {
        if (!this.#isClosed) await this.#writeRules(role, rules);
      }
    }
    this.#work = undefined;
  }

  async #writeRules({ metadata }: ClusterRole, rules: readonly PolicyRule[]): Promise<void> {
    const { name = '' } = metadata;
    const { registry, onError } = this.#options;
    // The uid ensures that a deleted role is not recreated.
    const body = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, uid: metadata.uid },
      rules,
    };
    const patch = { type: 'apply', body, force: true, fieldValidation: 'Ignore' } as const;
    try {
      await registry.patch(this.#kind, { name }, patch, write);
    } catch (error) {
      if (isReason(error, 'Conflict', 'NotFound')) return;
      onError(error, `aggregating the rules of ClusterRole ${name}`);
      if (!this.#isClosed) this.#scheduleRetry();
    }
  }
}

interface OutdatedRole {
  readonly role: ClusterRole;
  readonly rules: readonly PolicyRule[];
}

/** Aggregated roles whose rules are not up to date. */
function outdatedRoles(roles: readonly ClusterRole[]): readonly OutdatedRole[] {
  const byName = [...roles].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return byName
    .filter(({ aggregationRule }) => aggregationRule !== undefined)
    .map((role) => ({ role, rules: aggregatedRules(role, byName) }))
    .filter(({ role, rules }) => !isSemanticallyEqual(rules, role.rules));
}

/** Each rule once, ordered by selector and role name. */
function aggregatedRules(role: ClusterRole, byName: readonly ClusterRole[]): readonly PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const compiled = compileLabelSelector(selector as Parameters<typeof compileLabelSelector>[0]);
    // Selectors are validated on write; an invalid one selects nothing.
    if (!compiled.ok) continue;
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name) continue;
      if (!matchesLabels(compiled.selector, other.metadata.labels ?? {})) continue;
      for (const rule of other.rules ?? []) {
        // Stored objects have a fixed field order, so their JSON is comparable. A map, since there may be tens of
        // thousands of rules.
        const text = JSON.stringify(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}
