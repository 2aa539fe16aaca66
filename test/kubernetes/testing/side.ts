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
import { isAtRest } from './at-rest.ts';
import { Mask, type MaskedState, type Seen, type Snapshot } from './masked-state.ts';

const pollMs = 300;
/** A controller does not report that it has finished; so the state must be unchanged for a while. */
const steadyMs = 3_000;
/** Events are written in the background, on a busy machine seconds later; after the last action no other action waits for them. */
const steadyLastMs = 8_000;
/** Each look takes longer on a busy machine. */
const steadyLooks = 8;
/**
 * Alone on the machine it takes a few seconds, and ten if a namespace is deleted. With several test beds on two busy cores it takes a
 * minute.
 */
const restMaxMs = 150_000;

const looked: readonly Resource[] = [
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
export type Act = (stage: Stage) => Promise<unknown>;

export interface Stage {
  readonly cluster: Cluster;
  readonly namespace: string;
}

/** The actions of users in a namespace. After each action the runner waits until the cluster has settled. */
export interface Scene {
  /** Also the name of the namespace. */
  readonly name: string;
  readonly acts: Readonly<Record<string, Act>>;
  /** Pods stay pending, or objects stay half deleted, on purpose. */
  readonly isStuck?: boolean;
  /** The server must enforce the pod security level of the namespace. */
  readonly needsPodSecurity?: boolean;
}

/** The result of each action: its answer, and the state of the namespace after it. */
export type Outcome = Readonly<Record<string, { readonly answer: unknown; readonly state: MaskedState }>>;

interface SideOptions {
  /** Resources to be compared in addition to the default ones. */
  readonly more?: readonly Resource[];
  /** Resolves when a new namespace has the objects that controllers create in each. */
  readonly furnished?: Act;
}

interface Rest {
  readonly name: string;
  readonly isStuck: boolean;
  /** How long the state must be unchanged. */
  readonly forMs: number;
}

/** Runs scenarios in parallel on one cluster. */
export class Side {
  readonly #cluster: Cluster;
  readonly #looked: readonly Resource[];
  readonly #furnished: Act;
  readonly #masks = new Map<string, Mask>();
  #next: Promise<Snapshot> | undefined;

  constructor(cluster: Cluster, { more = [], furnished = async () => {} }: SideOptions = {}) {
    this.#cluster = cluster;
    this.#looked = [...looked, ...more];
    this.#furnished = furnished;
  }

  async play({ name, acts, isStuck = false }: Scene): Promise<Outcome> {
    const stage = { cluster: this.#cluster, namespace: name };
    await this.#cluster.resource(namespaces).create({ metadata: { name } });
    await this.#furnished(stage);
    const mask = new Mask(name);
    this.#masks.set(name, mask);
    const outcome: Record<string, Outcome[string]> = {};
    const last = Object.keys(acts).at(-1);
    for (const [title, act] of Object.entries(acts)) {
      const answer = await act(stage);
      const forMs = title === last ? steadyLastMs : steadyMs;
      outcome[title] = { answer: answer ?? '', state: await this.#rest(mask, { name, isStuck, forMs }) };
    }
    return outcome;
  }

  /** Adds the Events that have arrived since the outcome of a scenario was taken: on a busy machine they may be late by many seconds. */
  async withLateEvents(scene: string, outcome: Outcome): Promise<Outcome> {
    const [last, mask] = [Object.keys(outcome).at(-1) ?? '', this.#masks.get(scene)];
    const before = outcome[last];
    if (before === undefined || mask === undefined) return outcome;
    const { events } = mask.see(mask.here(await this.#look()));
    const told = [...(before.state.events as readonly string[]), ...(events as readonly string[])];
    return { ...outcome, [last]: { ...before, state: { ...before.state, events: [...new Set(told)] } } };
  }

  async #rest(mask: Mask, { name, isStuck, forMs }: Rest): Promise<MaskedState> {
    const beganMs = Date.now();
    let last = '';
    let looks = 0;
    for (let sinceMs = beganMs; ; ) {
      const snapshot = mask.here(await this.#look());
      const versions = versionsOf(snapshot);
      const isSame = versions === last && isAtRest(snapshot, isStuck);
      looks = isSame ? looks + 1 : 0;
      if (!isSame) sinceMs = Date.now();
      last = versions;
      if (Date.now() - sinceMs >= forMs && looks >= steadyLooks) return mask.see(snapshot);
      if (Date.now() - beganMs > restMaxMs)
        throw new Error(`${name} does not come to rest: ${JSON.stringify(mask.see(snapshot))}`);
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
    const lists = this.#looked.map(async (resource) => {
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
