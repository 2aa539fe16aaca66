import {
  claimNameOf,
  claimTemplateNames,
  setReplicasOf,
} from '../../../engine/workloads/stateful-set-members.ts';
import type { ControllerRevision, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { keyOf, parseKey } from '../../../kube/object-key.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { Dependents } from '../pods/dependents.ts';
import { ReplacementRateLimit, soonestRequeue } from '../pods/replacement-rate-limit.ts';
import { isSetSettled, planSet, type ReplicaStage, type SetPlan, type SetPlanInput } from './set-plan.ts';
import { SetWriter } from './set-writer.ts';

/** Members, revisions (sometimes with names that are taken), pods. */
const stagesMax = 8;

/**
 * Pods with stable names and their own volumes, created and deleted in order.
 *
 * The cache only shows whether there is anything to do; actions are decided on a live read. Nothing is created twice, because
 * every name is known beforehand: existing pods, claims and revisions make the second creation fail. Every other
 * write carries the uid and the version that was read. So the controller may crash after any of them: the next run reads the state and
 * continues.
 */
export const statefulSetController = defineController({
  name: 'statefulset',
  workers: 4,
  create: (context) => new StatefulSetKeeper(context),
});

class StatefulSetKeeper implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #writer: SetWriter;
  readonly #sets: Informer<StatefulSet>;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #pods: Dependents<Pod>;
  readonly #revisions: Dependents<ControllerRevision>;
  readonly #queue: WorkQueue;
  readonly #rateLimit: ReplacementRateLimit;
  /** Keys of sets by uid. */
  readonly #keys = new Map<string, string>();
  /** Names of revisions that were taken, until the status has the count. */
  readonly #collisions = new Map<string, number>();

  constructor(context: LoopContext) {
    const { informers } = context;
    this.#context = context;
    this.#writer = new SetWriter(context);
    this.#sets = informers.of(statefulSets);
    this.#claims = informers.of(persistentVolumeClaims);
    this.#queue = context.queue;
    this.#rateLimit = new ReplacementRateLimit(context);
    const wake = {
      owned: (uid: string) => this.#wake(uid),
      orphan: (object: KubeObject) => this.#wakeNamespace(object),
    };
    this.#pods = new Dependents(informers.of(pods), wake);
    this.#revisions = new Dependents(informers.of(controllerRevisions), wake);
    this.caches = [this.#sets, this.#claims, informers.of(pods), informers.of(controllerRevisions)];
  }

  listen(): readonly (() => void)[] {
    const changed = (set: StatefulSet) => {
      this.#keys.set(set.metadata?.uid ?? '', keyOf(set));
      this.#queue.add(keyOf(set));
    };
    const gone = (set: StatefulSet) => {
      this.#keys.delete(set.metadata?.uid ?? '');
      this.#collisions.delete(set.metadata?.uid ?? '');
      this.#rateLimit.forget(set.metadata?.uid ?? '');
    };
    return [
      this.#sets.addHandler({ added: changed, updated: changed, deleted: gone }),
      this.#pods.listen(),
      this.#revisions.listen(),
      this.#claims.addHandler({
        updated: (claim) => this.#wakeUserOf(claim),
        deleted: (claim) => this.#wakeUserOf(claim),
      }),
    ];
  }

  #wake(uid: string): void {
    const key = this.#keys.get(uid);
    if (key !== undefined) this.#queue.add(key);
  }

  /** A set there may adopt it; reconciling the sets shows whether one does. */
  #wakeNamespace({ metadata }: KubeObject): void {
    for (const set of this.#sets.values())
      if (set.metadata?.namespace === metadata?.namespace) this.#queue.add(keyOf(set));
  }

  /** The name of a claim contains the name of its set: pods wait for its deletion, and need it again afterwards. */
  #wakeUserOf({ metadata }: PersistentVolumeClaim): void {
    const { name = '', namespace } = metadata ?? {};
    const ordinal = Number(name.split('-').at(-1));
    for (const set of this.#sets.values()) {
      if (set.metadata?.namespace !== namespace) continue;
      if (claimTemplateNames(set).some((template) => claimNameOf(set, template, ordinal) === name))
        this.#queue.add(keyOf(set));
    }
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const cached = this.#sets.get(key);
    if (cached === undefined) return undefined;
    const plan = planSet(this.#cachedInput(cached));
    if (isSetSettled(plan)) return requeueFor(plan);
    for (let stage = 0; stage < stagesMax; stage++) {
      const input = await this.#liveInput(key, signal);
      if (input === undefined) return undefined;
      const next = planSet(input);
      if (next.kind === 'ignored') return undefined;
      if (next.kind === 'replicas') return await this.#keep(input.set, next, signal);
      await this.#prepare(input, next, signal);
    }
    return {};
  }

  async #prepare(
    { set, collisions }: SetPlanInput,
    plan: Extract<SetPlan, { kind: 'claim' | 'revise' }>,
    signal: AbortSignal,
  ): Promise<void> {
    if (plan.kind === 'claim') return await this.#writer.claim(set, plan, signal);
    const isNamed = await this.#writer.revise(plan.plan, signal);
    if (!isNamed) this.#collisions.set(set.metadata?.uid ?? '', collisions + 1);
  }

  async #keep(set: StatefulSet, stage: ReplicaStage, signal: AbortSignal): Promise<Requeue | undefined> {
    const creations = stage.steps.filter(({ kind }) => kind === 'create-pod');
    const { count, waitMs } = this.#rateLimit.take(set, setReplicasOf(set), creations.length);
    const heldBack = new Set(creations.slice(count));
    const steps = stage.steps.filter((step) => !heldBack.has(step));
    await this.#writer.replicas(set, { ...stage, steps }, signal);
    return requeueFor(stage, waitMs);
  }

  #cachedInput(set: StatefulSet): SetPlanInput {
    return {
      set,
      pods: this.#pods.ownedOrOrphaned(set),
      revisions: this.#revisions.ownedOrOrphaned(set),
      claims: new Map([...this.#cachedClaims(set)]),
      ...this.#collisionsAndTime(set),
    };
  }

  *#cachedClaims(set: StatefulSet): Iterable<readonly [string, PersistentVolumeClaim]> {
    const namespace = set.metadata?.namespace;
    const ordinals = new Set(
      this.#pods.ownedOrOrphaned(set).map(({ metadata }) => Number(metadata?.name?.split('-').at(-1))),
    );
    for (const template of claimTemplateNames(set)) {
      for (const ordinal of ordinals) {
        const name = claimNameOf(set, template, ordinal);
        const claim = this.#claims.get(`${namespace}/${name}`);
        if (claim !== undefined) yield [name, claim];
      }
    }
  }

  async #liveInput(key: string, signal: AbortSignal): Promise<SetPlanInput | undefined> {
    const { cluster } = this.#context;
    const { namespace, name } = parseKey(key);
    const set = await undefinedIfNotFound(
      cluster.resource(statefulSets).get({ namespace, name }, { signal }),
    );
    if (set === undefined) return undefined;
    const everything = { namespace, signal };
    const hasClaims = claimTemplateNames(set).length > 0;
    const [podPage, revisionPage, claimPage] = await Promise.all([
      cluster.resource(pods).list(everything),
      cluster.resource(controllerRevisions).list(everything),
      hasClaims ? cluster.resource(persistentVolumeClaims).list(everything) : undefined,
    ]);
    const claims = new Map((claimPage?.items ?? []).map((claim) => [claim.metadata?.name ?? '', claim]));
    return {
      set,
      pods: podPage.items,
      revisions: revisionPage.items,
      claims,
      ...this.#collisionsAndTime(set),
    };
  }

  #collisionsAndTime({ metadata, status }: StatefulSet): Pick<SetPlanInput, 'collisions' | 'nowMs'> {
    const met = this.#collisions.get(metadata?.uid ?? '') ?? 0;
    return { collisions: Math.max(met, status?.collisionCount ?? 0), nowMs: this.#context.clock.nowMs() };
  }
}

function requeueFor(plan: SetPlan, waitMs?: number): Requeue | undefined {
  return soonestRequeue([plan.kind === 'replicas' ? plan.nextAvailableMs : undefined, waitMs]);
}
