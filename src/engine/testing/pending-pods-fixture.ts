/** A cluster with too little of everything, in which pods wait and remember what they were told. */
import fc from 'fast-check';
import type { Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterChange, IndexedKind } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex, IndexUpdate } from '../cluster-index/cluster-index.ts';
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

/** Some share claims; one has an inline volume, one an in-tree disk, one a claim that is made for it. */
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

/** One thing that happens. `write` lets the cluster show a part of what was reserved for a pod; `wait` lets promises run out. */
export type PendingPodsStep =
  | { readonly type: 'event'; readonly event: RandomEvent }
  | { readonly type: 'twist'; readonly twist: Mutation }
  | { readonly type: 'reserve' | 'revert' | 'confirm'; readonly pod: number }
  | { readonly type: 'write'; readonly pod: number; readonly part: number }
  | { readonly type: 'wait' };

const podPositions = fc.nat(pods.length - 1);

const twistSteps = fc.record({ type: fc.constant('twist' as const), twist: arbMutation });
const eventSteps = fc.record({ type: fc.constant('event' as const), event: arbEvent.map(asInLife) });
const reserveSteps = fc.record({ type: fc.constant('reserve' as const), pod: podPositions });
const giveUpSteps = fc.record({
  type: fc.constantFrom('revert' as const, 'confirm' as const),
  pod: podPositions,
});
const writeSteps = fc.record({ type: fc.constant('write' as const), pod: podPositions, part: fc.nat(5) });
const waitSteps = fc.constant({ type: 'wait' as const });

/** What can befall a cluster in which pods wait. */
export const arbStep: fc.Arbitrary<PendingPodsStep> = fc.oneof(
  { weight: 12, arbitrary: twistSteps },
  { weight: 6, arbitrary: eventSteps },
  { weight: 4, arbitrary: giveUpSteps },
  { weight: 2, arbitrary: writeSteps },
  { weight: 1, arbitrary: waitSteps },
);

/** What it has behind it: mostly other pods' reservations, more or less carried out. */
export const arbSetupStep: fc.Arbitrary<PendingPodsStep> = fc.oneof(
  { weight: 5, arbitrary: reserveSteps },
  { weight: 3, arbitrary: writeSteps },
  { weight: 1, arbitrary: giveUpSteps },
  { weight: 2, arbitrary: twistSteps },
);

const plain = { troubledClaims: 1, oddVolumes: 3, affineVolumes: 30, volumes: 35 };
const fewVolumes: Distribution = { ...scarceVolumes, ...plain, attachLimits: 60 };
const smallPools: Distribution = { ...scarcePools, ...plain, volumes: 5, pinnedClaims: 15, attachLimits: 15 };
const mostlyBound: Distribution = { ...mixed, ...plain, boundClaims: 50, pinnedClaims: 5, attachLimits: 70 };

export const arbScarceObjects: fc.Arbitrary<RandomObjects> = fc
  .oneof(arbObjects(fewVolumes), arbObjects(smallPools), arbObjects(mostlyBound), arbFewSlots, arbFewSlots)
  .map(folded);

/** Three nodes and four volumes under all of the random names, so that most of what refers to them hits. */
function folded<T>(value: T): T {
  const text = JSON.stringify(value).replace(/"([nv])(\d+)"/g, (_, letter: string, digits: string) => {
    const count = letter === 'n' ? nodesMax : volumesMax;
    return `"${letter}${((Number(digits) - 1) % count) + 1}"`;
  });
  return JSON.parse(text) as T;
}

/** A pod keeps its node and its volumes for life: one that comes with others is another. */
function asInLife(event: RandomEvent): RandomEvent {
  const isOther = event.kind === 'Pod' && event.type === 'write';
  return folded(isOther ? { ...event, type: 'replace' } : event);
}

const nodesMax = 3;
const volumesMax = 4;

/** An answer that a pod was given, and what it depended on. */
export interface RecordedAnswer {
  readonly answer: Placement | Refusal;
  readonly interest: Interest;
  readonly index: ClusterIndex;
}

export interface StepResult {
  readonly answers: ReadonlyMap<string, RecordedAnswer>;
  readonly changes: readonly ClusterChange[];
}

/** Above all that the server gives out. */
const trialVersion = 1_000_000;

export class PendingPodsFixture {
  readonly #server: ModelServer;
  readonly #index: ClusterIndex;
  readonly #ledger: Ledger;
  /** Past every random expiry time: figures that lapse do so without anybody telling. */
  #nowMs = randomNowMs + 2_000;
  #isTrial = false;
  #trials = 0;

  constructor(objects: RandomObjects, profile: Profile) {
    this.#server = new ModelServer(objects);
    this.#index = clusterOf(this.#server.objects, profile);
    this.#ledger = new Ledger(this.#index);
  }

  /** What every pod that waits would be told now, and all that became free by time until then. */
  planAll(): {
    readonly answers: ReadonlyMap<string, RecordedAnswer>;
    readonly released: readonly ClusterChange[];
  } {
    const answers = new Map<string, RecordedAnswer>();
    for (const answer of this.#answers()) answers.set(answer.answer.pod.key, answer);
    const released = this.#index.drainReleases();
    return { answers, released: released === undefined ? [] : [released] };
  }

  *#answers(): Iterable<RecordedAnswer> {
    for (const asking of pods) {
      const key = keyOf(asking);
      if (this.#ledger.get(key) !== undefined) continue;
      if ((this.#index.pods.stored(key)?.nodeName ?? '') !== '') continue;
      const answer = plan(asking, this.#index, { nowMs: this.#nowMs, rules: volumeRules });
      yield { answer, interest: interestOf(this.#index, answer.pod), index: this.#index };
    }
  }

  #reservation(position: number): Reservation | undefined {
    const all = [...this.#ledger.all()];
    return all[position % Math.max(all.length, 1)];
  }

  /** Lets it happen. What came out of it, as far as it was said at once. */
  apply(step: PendingPodsStep): readonly ClusterChange[] {
    switch (step.type) {
      case 'event':
        return this.#tell(step.event);
      case 'twist':
        return this.#twist(step.twist);
      case 'reserve':
        this.#reserve(step.pod);
        return [];
      case 'revert':
      case 'confirm':
        return this.#giveUp(step.type, step.pod);
      case 'write':
        return this.#write(step.pod, step.part);
      case 'wait':
        this.#nowMs += this.#index.profile.settledPromiseMaxMs + 1;
        return [];
    }
  }

  /** Lets it happen, and asks again. The changes are all that was said about it, at once or when it was asked for. */
  applyAndPlan(step: PendingPodsStep): StepResult {
    const said = this.apply(step);
    const { answers, released } = this.planAll();
    return { answers, changes: [...said, ...released] };
  }

  /** What would come of it; then it has not happened. */
  tryAndRollBack(step: PendingPodsStep): StepResult {
    const savepoint = this.#index.savepoint();
    const nowMs = this.#nowMs;
    this.#index.drainReleases();
    this.#trials += 1;
    this.#isTrial = true;
    const aftermath = this.applyAndPlan(step);
    this.#isTrial = false;
    this.#nowMs = nowMs;
    this.#index.rollback(savepoint);
    return aftermath;
  }

  #tell(event: RandomEvent): readonly ClusterChange[] {
    const applied = this.#isTrial ? this.#pretend(event) : this.#server.apply(event, this.#index);
    return applied?.change === undefined ? [] : [applied.change];
  }

  /** Tells the index, and the server knows nothing of it. */
  #pretend({ type, kind, object }: RandomEvent): IndexUpdate | undefined {
    if (type === 'repeat' || type === 'stale') return undefined;
    const { namespace, name } = object.metadata!;
    if (type === 'delete')
      return this.#index.remove(kind, namespace === undefined ? name! : `${namespace}/${name}`);
    const resourceVersion = String(trialVersion + this.#trials);
    const known = this.#known(kind, name!)?.metadata?.uid ?? object.metadata!.uid!;
    const uid = type === 'replace' ? `${known}-${resourceVersion}` : known;
    return upsertObject(this.#index, kind, mergePatched(object, { metadata: { resourceVersion, uid } }));
  }

  #known(kind: IndexedKind, name: string): KubeObject | undefined {
    return this.#server.entries.find((entry) => entry.kind === kind && entry.object.metadata?.name === name)
      ?.object;
  }

  #twist({ type, kind, pick, patch }: Mutation): readonly ClusterChange[] {
    const known = this.#server.entries.filter((entry) => entry.kind === kind);
    if (known.length === 0) return [];
    return this.#tell({ type, kind, object: mergePatched(known[pick % known.length]!.object, patch) });
  }

  #reserve(position: number): void {
    const placements = [...this.#answers()]
      .map(({ answer }) => answer)
      .filter((answer) => answer.kind === 'placement');
    if (placements.length > 0) this.#ledger.reserve(placements[position % placements.length]!);
  }

  #giveUp(type: 'revert' | 'confirm', position: number): readonly ClusterChange[] {
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
    return this.#tell({ type: 'write', kind, object });
  }

  /** The scheduler's own writes, and the volumes that are then bound or made. */
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
      object: mergePatched(pods.find((asking) => keyOf(asking) === podKey)!, {
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
