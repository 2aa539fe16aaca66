import { isTerminating } from '../../../engine/workloads/pod-state.ts';
import type { Pod, PodCondition } from '../../../kube/api/core.ts';
import type { KubeObject, LabelSelector } from '../../../kube/api/meta.ts';
import type { PodDisruptionBudget } from '../../../kube/api/policy.ts';
import { formatTimestamp, parseTimestamp } from '../../../kube/go/timestamp.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { isFinished } from '../../../kube/pods.ts';
import { apiVersionOf, type Resource } from '../../../kube/resource.ts';
import { podDisruptionBudgets, pods } from '../../../kube/resources.ts';
import { compileLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { NamespaceIndex } from '../pods/namespace-index.ts';
import { type BudgetPlan, budgetStatusPatch, deletionTimeoutMs, planBudget } from './budget-plan.ts';
import { ScaleLookup } from './expected-scale.ts';
import { RecentlyDeletedPods } from './recently-deleted-pods.ts';

/**
 * Computes for each budget how many of its pods may be evicted.
 *
 * The cache may be stale: the server writes each eviction that it grants into the budget itself, and we write only
 * to the version of the budget that we read. So a pod whose eviction we have not observed does not count as healthy, or our
 * write fails and we read again. Its two kinds of writes are single writes, and running them twice changes nothing.
 */
export const disruptionController = defineController({
  name: 'disruption',
  workers: 4,
  create: (context) => new DisruptionReconciler(context),
});

/** Keys are `budget NAMESPACE/NAME` and `pod NAMESPACE/NAME`. */
class DisruptionReconciler implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #budgets: Informer<PodDisruptionBudget>;
  readonly #podCache: Informer<Pod>;
  readonly #pods: NamespaceIndex<Pod>;
  readonly #recentlyDeleted = new RecentlyDeletedPods(deletionTimeoutMs);
  readonly #scales: ScaleLookup;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#budgets = context.informers.of(podDisruptionBudgets);
    this.#podCache = context.informers.of(pods);
    this.#pods = new NamespaceIndex(this.#podCache);
    this.#scales = new ScaleLookup(context);
    this.#queue = context.queue;
    this.caches = [this.#budgets, this.#podCache, ...this.#scales.informers];
  }

  listen(): readonly (() => void)[] {
    const budget = (object: PodDisruptionBudget) => this.#queue.add(`budget ${keyOf(object)}`);
    const pod = (object: Pod) => {
      this.#wakeBudgetsOf(object);
      const staleMs = untilStaleMs(object, this.#context.clock.nowMs());
      if (staleMs !== undefined) this.#queue.addAfter(`pod ${keyOf(object)}`, staleMs);
    };
    const relabelled = (object: Pod, old: Pod) => {
      this.#wakeBudgetsOf(old);
      pod(object);
    };
    const gone = (old: Pod) => {
      this.#recentlyDeleted.note(old, this.#context.clock.nowMs());
      this.#wakeBudgetsOf(old);
    };
    const scaled = ({ metadata }: KubeObject) => this.#wakeNamespace(metadata?.namespace);
    const [sets, deployments, statefulSets] = this.#scales.informers;
    return [
      this.#pods.listen(),
      this.#budgets.addHandler({ added: budget, updated: budget }),
      this.#podCache.addHandler({ added: pod, updated: relabelled, deleted: gone }),
      sets.addHandler({ added: scaled, updated: onResize(scaled) }),
      deployments.addHandler({ added: scaled, updated: onResize(scaled) }),
      statefulSets.addHandler({ added: scaled, updated: onResize(scaled) }),
    ];
  }

  #wakeBudgetsOf(pod: Pod): void {
    for (const budget of this.#budgets.values())
      if (budget.metadata?.namespace === pod.metadata?.namespace && isSelected(budget.spec?.selector, pod))
        this.#queue.add(`budget ${keyOf(budget)}`);
  }

  #wakeNamespace(namespace: string | undefined): void {
    for (const budget of this.#budgets.values())
      if (budget.metadata?.namespace === namespace) this.#queue.add(`budget ${keyOf(budget)}`);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [what, rest = ''] = key.split(' ');
    return what === 'pod' ? await this.#clearStale(rest, signal) : await this.#countBudget(rest, signal);
  }

  async #countBudget(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { namespace, name } = parseKey(key);
    const client = this.#context.cluster.resource(podDisruptionBudgets);
    const budget = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    if (budget === undefined) return undefined;
    const selected = this.#pods.in(namespace ?? '').filter((pod) => isSelected(budget.spec?.selector, pod));
    const scale = await this.#scales.expected(selected, signal);
    const hasPredecessor = (pod: Pod) => this.#recentlyDeleted.hasPredecessor(pod);
    const nowMs = this.#context.clock.nowMs();
    const plan = planBudget({ budget, pods: selected, scale, hasPredecessor, nowMs });
    if (!plan.isStatusCurrent) {
      this.#recordEvents(budget, selected.length, plan);
      const { uid, resourceVersion } = budget.metadata ?? {};
      const body = { metadata: { uid, resourceVersion }, status: budgetStatusPatch(budget, plan.status) };
      await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
    }
    return plan.recheckMs === undefined ? undefined : { afterMs: plan.recheckMs };
  }

  #recordEvents(budget: PodDisruptionBudget, podCount: number, plan: BudgetPlan): void {
    const { namespace } = budget.metadata ?? {};
    if (podCount === 0)
      this.#record(budget, podDisruptionBudgets, 'Normal', 'NoPods', 'No matching pods found');
    if (plan.failure !== undefined) {
      const note = `Failed to calculate the number of expected pods: ${plan.failure}`;
      this.#record(budget, podDisruptionBudgets, 'Warning', 'CalculateExpectedPodCountFailed', note);
    }
    if (plan.unmanaged.length > 0) {
      const note = `Pods selected by this PodDisruptionBudget (selector: ${selectorText(budget.spec?.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
      this.#record(budget, podDisruptionBudgets, 'Warning', 'UnmanagedPods', note);
    }
    for (const pod of plan.overdue) {
      const note = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
      this.#record(pod, pods, 'Warning', 'NotDeleted', note);
    }
  }

  /** Withdraws the announcement of a disruption that never happened. */
  async #clearStale(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const { clock, cluster } = this.#context;
    const { namespace, name } = parseKey(key);
    const client = cluster.resource(pods);
    const pod = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    const staleMs = pod === undefined ? undefined : untilStaleMs(pod, clock.nowMs());
    if (pod === undefined || staleMs === undefined) return undefined;
    if (staleMs > 0) return { afterMs: staleMs };
    const { uid, resourceVersion } = pod.metadata ?? {};
    const conditions = withoutDisruptionTarget(pod, formatTimestamp(clock.nowMs()));
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
    return undefined;
  }

  #record(
    object: KubeObject,
    resource: Resource,
    type: 'Normal' | 'Warning',
    reason: string,
    note: string,
  ): void {
    const regarding = referenceTo(object, { apiVersion: apiVersionOf(resource), kind: resource.kind });
    this.#context.events.record({ regarding, type, reason, action: 'Reconcile', note });
  }
}

type Sized = KubeObject & { readonly spec?: { readonly replicas?: number } };

function onResize(notify: (object: KubeObject) => void): (object: Sized, old: Sized) => void {
  return (object, old) => {
    if (object.spec?.replicas !== old.spec?.replicas) notify(object);
  };
}

function isSelected(selector: LabelSelector | undefined, { metadata }: Pod): boolean {
  const compiled = compileLabelSelector(selector);
  return compiled.ok && matchesLabels(compiled.selector, metadata?.labels ?? {});
}

/** A selector in the format of Kubernetes' own messages. */
function selectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

/** A component that announces the disruption of a pod has this long to do it. */
const staleAfterMs = 2 * 60_000;

/** How long the announcement of a disruption stays valid; undefined if there is none, or the pod is terminating. */
function untilStaleMs(pod: Pod, nowMs: number): number | undefined {
  const target = pod.status?.conditions?.find(isTarget);
  if (target?.status !== 'True' || target.reason === 'TerminationByKubelet') return undefined;
  if (isTerminating(pod) || isFinished(pod)) return undefined;
  return Math.max(0, (parseTimestamp(target.lastTransitionTime) ?? 0) + staleAfterMs - nowMs);
}

/** The conditions without the announcement. */
function withoutDisruptionTarget({ status }: Pod, now: string): readonly PodCondition[] {
  return (status?.conditions ?? []).map((condition) =>
    isTarget(condition) ? { type: 'DisruptionTarget', status: 'False', lastTransitionTime: now } : condition,
  );
}

function isTarget({ type }: PodCondition): boolean {
  return type === 'DisruptionTarget';
}
