import type { ReplicaSet } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { Condition } from '../../../kube/api/meta.ts';
import { isReason } from '../../../kube/api-error.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { controllerOf, controllerReference } from '../../../kube/owner-references.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { pods, replicaSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { adoptAndRelease } from '../pods/adoption.ts';
import { deleteIfUnchanged } from '../pods/delete-if-unchanged.ts';
import { Dependents } from '../pods/dependents.ts';
import { ReplacementRateLimit, soonestRequeue } from '../pods/replacement-rate-limit.ts';
import {
  isReplicaSetSettled,
  planReplicaSet,
  type ReplicaSetPlan,
  type ReplicaSetPlanInput,
  replicaFailureOf,
  replicaSetStatusPatch,
} from './replica-set-plan.ts';

type ReplicaStage = Extract<ReplicaSetPlan, { kind: 'replicas' }>;

/** Members, then pods; once more if another client changed them in between. */
const stagesMax = 3;

/** Keeps the desired number of pods for each replica set. */
export class ReplicaSetReconciler {
  readonly caches: readonly { synced(signal: AbortSignal): Promise<boolean> }[];
  readonly #context: ControllerContext;
  readonly #enqueue: (key: string) => void;
  readonly #sets: Informer<ReplicaSet>;
  readonly #pods: Dependents<Pod>;
  readonly #rateLimit: ReplacementRateLimit;
  /** Keys of sets by uid. */
  readonly #keys = new Map<string, string>();

  /** `enqueue` queues a replica set by its key. */
  constructor(context: ControllerContext, enqueue: (key: string) => void) {
    this.#context = context;
    this.#rateLimit = new ReplacementRateLimit(context);
    this.#enqueue = enqueue;
    this.#sets = context.informers.of(replicaSets);
    const cache = context.informers.of(pods);
    this.#pods = new Dependents(cache, {
      owned: (uid) => this.#wake(uid),
      orphan: ({ metadata }) => this.#wakeNamespace(metadata?.namespace),
    });
    this.caches = [this.#sets, cache];
  }

  listen(): readonly (() => void)[] {
    const changed = (set: ReplicaSet) => {
      this.#keys.set(set.metadata?.uid ?? '', keyOf(set));
      this.#enqueue(keyOf(set));
    };
    const gone = (set: ReplicaSet) => {
      this.#keys.delete(set.metadata?.uid ?? '');
      this.#rateLimit.forget(set.metadata?.uid ?? '');
    };
    return [this.#sets.addHandler({ added: changed, updated: changed, deleted: gone }), this.#pods.listen()];
  }

  /** The cached pods of a set, in any state. */
  podsOf(set: ReplicaSet): readonly Pod[] {
    return this.#pods.ownedOrOrphaned(set).filter((pod) => controllerOf(pod)?.uid === set.metadata?.uid);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const cached = this.#sets.get(key);
    if (cached === undefined) return undefined;
    const plan = planReplicaSet(this.#input(cached, this.#pods.ownedOrOrphaned(cached)));
    if (isReplicaSetSettled(plan)) return requeueFor(plan);
    for (let stage = 0; stage < stagesMax; stage++) {
      const input = await this.#liveInput(key, signal);
      if (input === undefined) return undefined;
      const next = planReplicaSet(input);
      if (next.kind === 'replicas') return await this.#keep(input.set, next, signal);
      if (next.kind === 'ignored') return undefined;
      const reference = controllerReference(input.set, replicaSets);
      await adoptAndRelease(this.#context.cluster.resource(pods), next.pods, reference, signal);
    }
    return {};
  }

  #wake(uid: string): void {
    const key = this.#keys.get(uid);
    if (key !== undefined) this.#enqueue(key);
  }

  #wakeNamespace(namespace: string | undefined): void {
    for (const set of this.#sets.values())
      if (set.metadata?.namespace === namespace) this.#enqueue(keyOf(set));
  }

  #input(set: ReplicaSet, podsAround: readonly Pod[]): ReplicaSetPlanInput {
    const owner = controllerOf(set)?.uid;
    const family = new Set([set.metadata?.uid ?? '']);
    if (owner !== undefined)
      for (const sibling of this.#sets.values())
        if (controllerOf(sibling)?.uid === owner) family.add(sibling.metadata?.uid ?? '');
    return { set, pods: podsAround, family, nowMs: this.#context.clock.nowMs() };
  }

  async #liveInput(key: string, signal: AbortSignal): Promise<ReplicaSetPlanInput | undefined> {
    const { cluster } = this.#context;
    const { namespace, name } = parseKey(key);
    const set = await undefinedIfNotFound(cluster.resource(replicaSets).get({ namespace, name }, { signal }));
    if (set === undefined) return undefined;
    const { items } = await cluster.resource(pods).list({ namespace, signal });
    return this.#input(set, items);
  }

  async #keep(set: ReplicaSet, stage: ReplicaStage, signal: AbortSignal): Promise<Requeue | undefined> {
    const { count, waitMs } = this.#rateLimit.take(set, set.spec?.replicas ?? 1, stage.create.length);
    await this.#manage(set, { ...stage, create: stage.create.slice(0, count) }, signal);
    return requeueFor(stage, waitMs);
  }

  /** Creates or deletes pods one by one; the first failure ends it, and the status reports it. */
  async #manage(set: ReplicaSet, stage: ReplicaStage, signal: AbortSignal): Promise<void> {
    const failure = await this.#change(set, stage, signal);
    const known = replicaFailureOf(set);
    const isFailureCurrent = failure === undefined ? known === undefined : known !== undefined;
    if (!stage.isStatusCurrent || !isFailureCurrent) await this.#writeStatus(set, stage, failure, signal);
    if (failure === undefined) return;
    this.#rateLimit.forget(set.metadata?.uid ?? '');
    throw failure.error;
  }

  async #change(
    set: ReplicaSet,
    { create, remove }: ReplicaStage,
    signal: AbortSignal,
  ): Promise<{ readonly error: unknown } | undefined> {
    const client = this.#context.cluster.resource(pods);
    try {
      for (const pod of create) {
        await client.create(pod, { signal });
        this.#record(set, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata?.name}`);
      }
      for (const pod of remove) {
        await deleteIfUnchanged(client, pod, signal);
        this.#record(set, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata?.name}`);
      }
    } catch (error) {
      // Another client was first, or we are being stopped: neither is a failure to report.
      if (isReason(error, 'AlreadyExists', 'Conflict') || signal.aborted) throw error;
      const [reason, verb] = create.length > 0 ? ['FailedCreate', 'creating'] : ['FailedDelete', 'deleting'];
      this.#record(set, 'Warning', reason, `Error ${verb}: ${messageOf(error)}`);
      return { error };
    }
    return undefined;
  }

  async #writeStatus(
    set: ReplicaSet,
    { create, status }: ReplicaStage,
    failure: { readonly error: unknown } | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = set.metadata ?? {};
    const others = (set.status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure');
    const failed: Condition | undefined =
      failure === undefined
        ? undefined
        : (replicaFailureOf(set) ?? {
            type: 'ReplicaFailure',
            status: 'True',
            lastTransitionTime: formatTimestamp(this.#context.clock.nowMs()),
            reason: create.length > 0 ? 'FailedCreate' : 'FailedDelete',
            message: messageOf(failure.error),
          });
    const conditions = failed === undefined ? others : [...others, failed];
    const body = { metadata: { uid, resourceVersion }, status: replicaSetStatusPatch(status, conditions) };
    const client = this.#context.cluster.resource(replicaSets);
    await client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal });
  }

  #record(set: ReplicaSet, type: 'Normal' | 'Warning', reason = '', note: string): void {
    const regarding = referenceTo(set, { apiVersion: apiVersionOf(replicaSets), kind: replicaSets.kind });
    this.#context.events.record({ regarding, type, reason, action: 'Reconcile', note });
  }
}

function requeueFor(plan: ReplicaSetPlan, waitMs?: number): Requeue | undefined {
  return soonestRequeue([plan.kind === 'replicas' ? plan.nextAvailableMs : undefined, waitMs]);
}
