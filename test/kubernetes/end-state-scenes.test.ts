import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { nodes, storageClasses } from '../../src/cluster/resources.ts';
import type { Supervisor } from '../../src/runtime/supervisor.ts';
import type { Bed } from './bed.ts';
import { lacks, serverPrograms, sharedBed } from './bed-in-test.ts';
import { makeDisks } from './testing/disk-maker.ts';
import { type KnownDifference, knownDifferences, unknownOf } from './testing/known-differences.ts';
import { runOurs } from './testing/our-controllers.ts';
import { differencesOf } from './testing/outcome-differences.ts';
import { budgetScenes } from './testing/scenes/budget-scenes.ts';
import { deploymentScenes } from './testing/scenes/deployment-scenes.ts';
import { endingScenes } from './testing/scenes/ending-scenes.ts';
import { statefulSetScenes } from './testing/scenes/stateful-set-scenes.ts';
import { sharedClasses, volumeScenes } from './testing/scenes/volume-scenes.ts';
import { type Outcome, type Scene, Side } from './testing/side.ts';

const scenes = [...statefulSetScenes, ...deploymentScenes, ...budgetScenes, ...endingScenes, ...volumeScenes];

/** Our server does not judge pods by security levels. */
const ownScenes = scenes.filter(({ needsPodSecurity }) => needsPodSecurity !== true);

const theirControllers = [
  'statefulset-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-expander-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'ephemeral-volume-controller',
];

const ourControllers = [
  'statefulset',
  'deployment',
  'disruption',
  'garbage-collector',
  'namespace',
  'pv-binder',
  'expander',
  'protection',
  'ephemeral',
];

/**
 * The same acts for kube-controller-manager on the real server, and for our controllers, once on the same server and once on ours.
 * Scheduler and nodes are the real ones everywhere, so that only the controllers differ, or they and the server.
 */
describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'our controllers come to the same end as kube-controller-manager',
  () => {
    const common = { scheduler: true, kwok: true } as const;
    // Else it would spend most of its time waiting for its own limit.
    const extraFlags = { 'kube-api-qps': 1000, 'kube-api-burst': 1000 };
    const beds = {
      real: sharedBed({ ...common, controllerManager: { controllers: theirControllers, extraFlags } }),
      same: sharedBed(common),
      own: sharedBed({ ...common, server: 'stowage', stowageControllers: ourControllers.join(',') }),
    };
    const ended = new AbortController();
    const plays = { real: new Plays(), same: new Plays(), own: new Plays() };
    const met = new Set<KnownDifference>();
    let ours: Supervisor | undefined;

    beforeAll(async () => {
      ours = runOurs(await beds.same().connect(), ourControllers);
      await Promise.all(
        (['real', 'same', 'own'] as const).map(async (name) => {
          const side = new Side(await stage(beds[name](), ended));
          plays[name].begin(side, name === 'own' ? ownScenes : scenes);
        }),
      );
    });

    afterAll(async () => {
      ended.abort();
      await ours?.close();
    });

    test.each(scenes)(
      'on its server: $name',
      async ({ name, acts }) => {
        const [real, our] = [await plays.real.of(name), await plays.same.of(name)];
        expect(Object.keys(real)).toEqual(Object.keys(acts));
        expect(unknownOf(name, differencesOf(real, our), met)).toEqual([]);
      },
      300_000,
    );

    test.each(ownScenes)(
      'on our server: $name',
      async ({ name }) => {
        const [real, our] = [await plays.real.of(name), await plays.own.of(name)];
        expect(unknownOf(name, differencesOf(real, our), met)).toEqual([]);
      },
      300_000,
    );

    test('but for what is named, all of which is met', () => {
      expect(knownDifferences.filter((each) => each.isByChance !== true && !met.has(each))).toEqual([]);
    });
  },
);

/** Scenes of one side, all at once. */
class Plays {
  readonly #outcomes = new Map<string, Promise<Outcome>>();

  begin(side: Side, played: readonly Scene[]): void {
    for (const scene of played) {
      const outcome = side.play(scene);
      outcome.catch(() => {}); // It is for the test to tell.
      this.#outcomes.set(scene.name, outcome);
    }
  }

  async of(name: string): Promise<Outcome> {
    const outcome = this.#outcomes.get(name);
    if (outcome === undefined) throw new Error(`${name} is not played`);
    return await outcome;
  }
}

/** What every scene finds: a node, classes, and somebody who makes volumes. */
async function stage(bed: Bed, ended: AbortController): Promise<Cluster> {
  const cluster = await bed.connect();
  await cluster.resource(nodes).create({ metadata: { name: 'n1' } });
  for (const each of sharedClasses) await cluster.resource(storageClasses).create(each);
  makeDisks(cluster, ended.signal).catch((error: unknown) => {
    if (!ended.signal.aborted) console.error(error);
  });
  return cluster;
}
