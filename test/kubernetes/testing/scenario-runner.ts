import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import {
  configMaps,
  controllerRevisions,
  coreEvents,
  deployments,
  namespaces,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '../../../src/kube/resources.ts';
import { isSettled } from './is-settled.ts';
import { type MaskedState, type Seen, type Snapshot, StateMask } from './masked-state.ts';

const pollMs = 300;
/** A controller does not report that it has finished; so the state must be unchanged for a while. */
const steadyMs = 3_000;
/**
 * Events are written in the background, on a busy machine seconds later; after the last action no other action waits for them. And whether a scenario that is
 * stuck on purpose has come as far as it can is seen by nothing else.
 */
const steadyLongMs = 8_000;
/** Each look takes longer on a busy machine. */
const steadyLooks = 8;
/**
 * Alone on the machine it takes a few seconds, and ten if a namespace is deleted. With several test beds on two busy cores it takes a
 * minute.
 */
const settleMaxMs = 400_000;

const comparedResources: readonly Resource[] = [
  namespaces,
  configMaps,
  pods,
  replicaSets,
  deployments,
  statefulSets,
  controllerRevisions,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
];

/** One step of a scenario on one cluster. If it returns a text, that is compared as well. */
export type UserAction = (context: ScenarioContext) => Promise<unknown>;

export interface ScenarioContext {
  readonly cluster: Cluster;
  readonly namespace: string;
}

/** The actions of users in a namespace. After each action the runner waits until the cluster has settled. */
export interface UserScenario {
  /** Also the name of the namespace. */
  readonly name: string;
  readonly actions: Readonly<Record<string, UserAction>>;
  /** Pods stay pending, or objects stay half deleted, on purpose. */
  readonly isStuck?: boolean;
  /** The server must enforce the pod security level of the namespace. */
  readonly needsPodSecurity?: boolean;
}

/** The result of each action: its answer, and the state of the namespace after it. */
export type ScenarioOutcome = Readonly<
  Record<string, { readonly answer: unknown; readonly state: MaskedState }>
>;

interface ScenarioRunnerOptions {
  /** Resources to be compared in addition to the default ones. */
  readonly more?: readonly Resource[];
  /** Resolves when a new namespace has the objects that controllers create in each. */
  readonly untilPopulated?: UserAction;
}

interface SettleOptions {
  readonly name: string;
  readonly isStuck: boolean;
  /** How long the state must be unchanged. */
  readonly forMs: number;
}

/** Runs scenarios in parallel on one cluster. */
export class ScenarioRunner {
  readonly #cluster: Cluster;
  readonly #comparedResources: readonly Resource[];
  readonly #untilPopulated: UserAction;
  readonly #masks = new Map<string, StateMask>();
  #next: Promise<Snapshot> | undefined;

  constructor(cluster: Cluster, { more = [], untilPopulated = async () => {} }: ScenarioRunnerOptions = {}) {
    this.#cluster = cluster;
    this.#comparedResources = [...comparedResources, ...more];
    this.#untilPopulated = untilPopulated;
  }

  async run({ name, actions, isStuck = false }: UserScenario): Promise<ScenarioOutcome> {
    const context = { cluster: this.#cluster, namespace: name };
    await this.#cluster.resource(namespaces).create({ metadata: { name } });
    await this.#untilPopulated(context);
    const mask = new StateMask(name);
    this.#masks.set(name, mask);
    const outcome: Record<string, ScenarioOutcome[string]> = {};
    const last = Object.keys(actions).at(-1);
    for (const [title, action] of Object.entries(actions)) {
      const answer = await action(context);
      const forMs = isStuck || title === last ? steadyLongMs : steadyMs;
      outcome[title] = {
        answer: answer ?? '',
        state: await this.#untilSettled(mask, { name, isStuck, forMs }),
      };
    }
    return outcome;
  }

  /** Adds the Events that have arrived since the outcome of a scenario was taken: on a busy machine they may be late by many seconds. */
  async withLateEvents(scenario: string, outcome: ScenarioOutcome): Promise<ScenarioOutcome> {
    const [last, mask] = [Object.keys(outcome).at(-1) ?? '', this.#masks.get(scenario)];
    const before = outcome[last];
    if (before === undefined || mask === undefined) return outcome;
    const { events } = mask.see(mask.here(await this.#look()));
    const all = [...(before.state.events as readonly string[]), ...(events as readonly string[])];
    return { ...outcome, [last]: { ...before, state: { ...before.state, events: [...new Set(all)] } } };
  }

  async #untilSettled(mask: StateMask, { name, isStuck, forMs }: SettleOptions): Promise<MaskedState> {
    const beganMs = Date.now();
    let last = '';
    let looks = 0;
    for (let sinceMs = beganMs; ; ) {
      const snapshot = mask.here(await this.#look());
      const versions = versionsOf(snapshot);
      const isSame = versions === last && isSettled(snapshot, isStuck);
      looks = isSame ? looks + 1 : 0;
      if (!isSame) sinceMs = Date.now();
      last = versions;
      if (Date.now() - sinceMs >= forMs && looks >= steadyLooks) return mask.see(snapshot);
      if (Date.now() - beganMs > settleMaxMs)
        throw new Error(`${name} does not settle: ${JSON.stringify(mask.see(snapshot))}`);
    }
  }

  /** Shared by all scenarios that wait. The read starts after they asked. */
  #look(): Promise<Snapshot> {
    this.#next ??= this.#read();
    return this.#next;
  }

  async #read(): Promise<Snapshot> {
    await sleep(pollMs);
    this.#next = undefined;
    const lists = this.#comparedResources.map(async (resource) => {
      const { items } = await this.#cluster.resource(resource).list();
      return items.map((object): Seen => ({ kind: resource.kind, object }));
    });
    const events = this.#cluster.resource(coreEvents).list();
    return { objects: (await Promise.all(lists)).flat(), events: (await events).items };
  }
}

/** Events are compared by name only, because their counts keep rising. */
function versionsOf({ objects, events }: Snapshot): string {
  const versions = objects.map(({ object: { metadata } }) => `${metadata?.uid} ${metadata?.resourceVersion}`);
  return [...versions, ...events.map(({ metadata }) => metadata?.name)].join();
}
