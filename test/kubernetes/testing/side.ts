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
/** Nothing tells when a controller has nothing more to do; so its fixture has to be the same for a while. */
const steadyMs = 3_000;
/** Events come in the background, on a busy machine by seconds; those of the last act have nobody after them to wait for. */
const steadyLastMs = 8_000;
/** Each takes the longer the busier the machine is. */
const steadyLooks = 8;
/** Alone on the machine it is a few seconds; one that deletes a namespace takes ten. Several beds on two busy cores take a minute. */
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

/** One step of a scene, on the cluster of one side. Its text, if any, is compared as well. */
export type Act = (stage: Stage) => Promise<unknown>;

export interface Stage {
  readonly cluster: Cluster;
  readonly namespace: string;
}

/** What users do, and where. Between two acts the cluster comes to rest. */
export interface Scene {
  /** Of the namespace too. */
  readonly name: string;
  readonly acts: Readonly<Record<string, Act>>;
  /** Pods wait, or objects stay half deleted, and that is how it should be. */
  readonly isStuck?: boolean;
  /** The server has to refuse pods by the level of their namespace. */
  readonly needsPodSecurity?: boolean;
}

/** What came of each act: its answer, and the state of the namespace after it. */
export type Outcome = Readonly<Record<string, { readonly answer: unknown; readonly state: MaskedState }>>;

interface SideOptions {
  /** Looked at besides what all scenes have. */
  readonly more?: readonly Resource[];
  /** Resolves when a new namespace has what somebody puts into each. */
  readonly furnished?: Act;
}

interface Rest {
  readonly name: string;
  readonly isStuck: boolean;
  /** How long everything has to be the same. */
  readonly forMs: number;
}

/** A cluster on which scenes are played side by side. */
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

  /** What came of a scene, with Events about it that have come since: on a busy machine they are late by many seconds. */
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

  /** One for all who wait for it. It is read after everybody asked. */
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

/** Events only by their names: many are counted up for ever. */
function versionsOf({ objects, events }: Snapshot): string {
  const versions = objects.map(({ object: { metadata } }) => `${metadata?.uid} ${metadata?.resourceVersion}`);
  return [...versions, ...events.map(({ metadata }) => metadata?.name)].join();
}
