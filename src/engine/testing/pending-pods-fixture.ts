/** A cluster with too few resources, in which pods stay pending and their last answers are recorded. */
import fc from 'fast-check';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterChange, IndexedKind, IndexUpdate } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { Profile } from '../cluster-index/profile.ts';
import { Ledger, type Reservation } from '../ledger/ledger.ts';
import { type Placement, plan } from '../plan.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { Interest } from '../rules/framework/rule.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { interestOf } from '../waking/interest.ts';
import { clusterOf } from './cluster.ts';
import { ephemeralVolume, inlineVolume, pod } from './objects.ts';
import { arbFewSlots } from './random/attach-slots.ts';
import { arbObjects, type RandomObjects, randomNowMs } from './random/cluster.ts';
import { type Distribution, mixed, scarcePools, scarceVolumes } from './random/distribution.ts';
import { arbEvent, ModelServer, type RandomEvent, upsertObject } from './random/events.ts';
import { arbMutation, type Mutation, type MutationPatch, mergePatched } from './random/mutations.ts';

/** Some share claims. One has an inline volume, one an in-tree disk, and one an ephemeral volume. */
const pods = [
  pod('a', ['c1']),
  pod('b', ['c2']),
  pod('c', ['c3']),
  pod('d', ['c1', 'c2']),
  pod('e', ['c3', 'c4']),
  pod('f', ['c4'], { volumes: [inlineVolume('scratch', 'd1', '2Gi')] }),
  pod('g', ['o1'], { volumes: [{ name: 'disk', awsElasticBlockStore: { volumeID: 'vol-1' } }] }),
  pod('pod', [], { volumes: [ephemeralVolume('cache')] }),
];

/** One step of a history. `write` makes the cluster show a part of a pod's reservation; `wait` lets promises expire. */
export type PendingPodsStep =
  | { readonly type: 'event'; readonly event: RandomEvent }
  | { readonly type: 'mutation'; readonly mutation: Mutation }
  | { readonly type: 'reserve' | 'revert' | 'confirm'; readonly pod: number }
  | { readonly type: 'write'; readonly pod: number; readonly part: number }
  | { readonly type: 'wait' };

const podPositions = fc.nat(pods.length - 1);

const mutationSteps = fc.record({ type: fc.constant('mutation' as const), mutation: arbMutation });
const eventSteps = fc.record({ type: fc.constant('event' as const), event: arbEvent.map(asRealEvent) });
const reserveSteps = fc.record({ type: fc.constant('reserve' as const), pod: podPositions });
const endSteps = fc.record({
  type: fc.constantFrom('revert' as const, 'confirm' as const),
  pod: podPositions,
});
const writeSteps = fc.record({ type: fc.constant('write' as const), pod: podPositions, part: fc.nat(5) });
const waitSteps = fc.constant({ type: 'wait' as const });

/** Steps while pods are pending. */
export const arbStep: fc.Arbitrary<PendingPodsStep> = fc.oneof(
  { weight: 12, arbitrary: mutationSteps },
  { weight: 6, arbitrary: eventSteps },
  { weight: 4, arbitrary: endSteps },
  { weight: 2, arbitrary: writeSteps },
  { weight: 1, arbitrary: waitSteps },
);

/** Steps before that: mostly reservations of other pods, some of them partly written. */
export const arbSetupStep: fc.Arbitrary<PendingPodsStep> = fc.oneof(
  { weight: 5, arbitrary: reserveSteps },
  { weight: 3, arbitrary: writeSteps },
  { weight: 1, arbitrary: endSteps },
  { weight: 2, arbitrary: mutationSteps },
);

const plain = { invalidClaims: 1, oddVolumes: 3, affineVolumes: 30, volumes: 35 };
const fewVolumes: Distribution = { ...scarceVolumes, ...plain, attachLimits: 60 };
const smallPools: Distribution = { ...scarcePools, ...plain, volumes: 5, pinnedClaims: 15, attachLimits: 15 };
const mostlyBound: Distribution = { ...mixed, ...plain, boundClaims: 50, pinnedClaims: 5, attachLimits: 70 };

export const arbScarceObjects: fc.Arbitrary<RandomObjects> = fc
  .oneof(arbObjects(fewVolumes), arbObjects(smallPools), arbObjects(mostlyBound), arbFewSlots, arbFewSlots)
  .map(withFewNames);

/** Maps all random names to three nodes and four volumes, so that most references have a target. */
function withFewNames<T>(value: T): T {
  const text = JSON.stringify(value).replace(/"([nv])(\d+)"/g, (_, letter: string, digits: string) => {
    const count = letter === 'n' ? nodesMax : volumesMax;
    return `"${letter}${((Number(digits) - 1) % count) + 1}"`;
  });
  return JSON.parse(text) as T;
}

/** The node and the volumes of a pod are immutable, so a write of a pod becomes a replacement with a new uid. */
function asRealEvent(event: RandomEvent): RandomEvent {
  const isOther = event.kind === 'Pod' && event.type === 'write';
  return withFewNames(isOther ? { ...event, type: 'replace' } : event);
}

const nodesMax = 3;
const volumesMax = 4;

/** The answer for a pod, and what it depends on. */
export interface PendingPodAnswer {
  readonly answer: Placement | Refusal;
  readonly interest: Interest;
  readonly index: ClusterIndex;
}

export interface StepResult {
  readonly answers: ReadonlyMap<string, PendingPodAnswer>;
  readonly changes: readonly ClusterChange[];
}

/** Higher than every version of the model server. */
const attemptVersion = 1_000_000;

export class PendingPodsFixture {
  readonly #server: ModelServer;
  readonly #index: ClusterIndex;
  readonly #ledger: Ledger;
  /** After every random expiry time, because no event reports that a capacity report has expired. */
  #nowMs = randomNowMs + 2_000;
  #isTrying = false;
  #attempts = 0;

  constructor(objects: RandomObjects, profile: Profile) {
    this.#server = new ModelServer(objects);
    this.#index = clusterOf(this.#server.objects, profile);
    this.#ledger = new Ledger(this.#index);
  }

  /** The current answer for every pending pod, and what was released by the passing of time. */
  planAll(): {
    readonly answers: ReadonlyMap<string, PendingPodAnswer>;
    readonly released: readonly ClusterChange[];
  } {
    const answers = new Map<string, PendingPodAnswer>();
    for (const answer of this.#answers()) answers.set(answer.answer.pod.key, answer);
    const released = this.#index.drainReleases();
    return { answers, released: released === undefined ? [] : [released] };
  }

  *#answers(): Iterable<PendingPodAnswer> {
    for (const pending of pods) {
      const key = keyOf(pending);
      if (this.#ledger.get(key) !== undefined) continue;
      if ((this.#index.pods.stored(key)?.nodeName ?? '') !== '') continue;
      const answer = plan(pending, this.#index, { nowMs: this.#nowMs, rules: volumeRules });
      yield { answer, interest: interestOf(this.#index, answer.pod), index: this.#index };
    }
  }

  #reservation(position: number): Reservation | undefined {
    const all = [...this.#ledger.all()];
    return all[position % Math.max(all.length, 1)];
  }

  /** Applies the step, and returns the changes that are reported immediately. */
  apply(step: PendingPodsStep): readonly ClusterChange[] {
    switch (step.type) {
      case 'event':
        return this.#applyEvent(step.event);
      case 'mutation':
        return this.#mutate(step.mutation);
      case 'reserve':
        this.#reserve(step.pod);
        return [];
      case 'revert':
      case 'confirm':
        return this.#endReservation(step.type, step.pod);
      case 'write':
        return this.#write(step.pod, step.part);
      case 'wait':
        this.#nowMs += this.#index.profile.settledPromiseMaxMs + 1;
        return [];
    }
  }

  /** Applies the step and plans again. The result has all changes, those reported immediately and those drained after planning. */
  applyAndPlan(step: PendingPodsStep): StepResult {
    const reported = this.apply(step);
    const { answers, released } = this.planAll();
    return { answers, changes: [...reported, ...released] };
  }

  /** Applies the step, plans again, and rolls back. */
  tryAndRollBack(step: PendingPodsStep): StepResult {
    const savepoint = this.#index.savepoint();
    const nowMs = this.#nowMs;
    this.#index.drainReleases();
    this.#attempts += 1;
    this.#isTrying = true;
    const result = this.applyAndPlan(step);
    this.#isTrying = false;
    this.#nowMs = nowMs;
    this.#index.rollback(savepoint);
    return result;
  }

  #applyEvent(event: RandomEvent): readonly ClusterChange[] {
    const applied = this.#isTrying ? this.#applyToIndexOnly(event) : this.#server.apply(event, this.#index);
    return applied?.change === undefined ? [] : [applied.change];
  }

  /** Applies the event to the index, but not to the model server. */
  #applyToIndexOnly({ type, kind, object }: RandomEvent): IndexUpdate | undefined {
    if (type === 'repeat' || type === 'stale') return undefined;
    const { namespace, name } = object.metadata!;
    if (type === 'delete')
      return this.#index.remove(kind, namespace === undefined ? name! : `${namespace}/${name}`);
    const resourceVersion = String(attemptVersion + this.#attempts);
    const known = this.#known(kind, name!)?.metadata?.uid ?? object.metadata!.uid!;
    const uid = type === 'replace' ? `${known}-${resourceVersion}` : known;
    return upsertObject(this.#index, kind, mergePatched(object, { metadata: { resourceVersion, uid } }));
  }

  #known(kind: IndexedKind, name: string): KubeObject | undefined {
    return this.#server.entries.find((entry) => entry.kind === kind && entry.object.metadata?.name === name)
      ?.object;
  }

  #mutate({ type, kind, pick, patch }: Mutation): readonly ClusterChange[] {
    const known = this.#server.entries.filter((entry) => entry.kind === kind);
    if (known.length === 0) return [];
    return this.#applyEvent({ type, kind, object: mergePatched(known[pick % known.length]!.object, patch) });
  }

  #reserve(position: number): void {
    const placements = [...this.#answers()]
      .map(({ answer }) => answer)
      .filter((answer) => answer.kind === 'placement');
    if (placements.length > 0) this.#ledger.reserve(placements[position % placements.length]!);
  }

  #endReservation(type: 'revert' | 'confirm', position: number): readonly ClusterChange[] {
    const reservation = this.#reservation(position);
    if (reservation === undefined) return [];
    if (type === 'revert') return [this.#ledger.revert(reservation)!];
    this.#ledger.confirm(reservation);
    return [];
  }

  #write(position: number, part: number): readonly ClusterChange[] {
    const reservation = this.#reservation(position);
    if (reservation === undefined) return [];
    const writes = this.#writesFor(reservation);
    const { kind, object } = writes[part % writes.length]!;
    return this.#applyEvent({ type: 'write', kind, object });
  }

  /** The scheduler's writes for a reservation, and the resulting bindings. */
  #writesFor({ podKey, placement }: Reservation): { kind: IndexedKind; object: KubeObject }[] {
    const writes: { kind: IndexedKind; object: KubeObject }[] = [];
    const add = (kind: IndexedKind, name: string, patch: MutationPatch) => {
      const known = this.#known(kind, name);
      if (known !== undefined) writes.push({ kind, object: mergePatched(known, patch) });
    };
    for (const { claim, claimUid, volume } of placement.bindings) {
      const [namespace, name] = claim.split('/') as [string, string];
      add('PersistentVolume', volume, { spec: { claimRef: { namespace, name, uid: claimUid } } });
      add('PersistentVolumeClaim', name, boundTo(volume));
    }
    for (const { claim } of placement.provisions) {
      const name = claim.split('/')[1]!;
      const selected = { metadata: { annotations: { [annotations.selectedNode]: placement.node } } };
      add('PersistentVolumeClaim', name, selected);
      add('PersistentVolumeClaim', name, mergePatched(selected, boundTo(`made-${name}`)));
    }
    writes.push({
      kind: 'Pod',
      object: mergePatched(pods.find((pending) => keyOf(pending) === podKey)!, {
        spec: { nodeName: placement.node },
      }),
    });
    return writes;
  }
}

function boundTo(volumeName: string): MutationPatch {
  return {
    spec: { volumeName },
    metadata: { annotations: { [annotations.bindCompleted]: 'yes' } },
    status: { phase: 'Bound' },
  };
}

function keyOf({ metadata }: Pod): string {
  return `${metadata!.namespace}/${metadata!.name}`;
}
