import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Supervisor } from '../../src/runtime/supervisor.ts';
import { lacks, serverPrograms, sharedBed, startBed } from './bed-in-test.ts';
import { isRetry } from './testing/is-retry.ts';
import { type KnownDifference, knownDifferences, unknownOf } from './testing/known-differences.ts';
import { runOurs } from './testing/our-controllers.ts';
import { differencesOf } from './testing/outcome-differences.ts';
import { setStage } from './testing/scene-stage.ts';
import { budgetScenes } from './testing/scenes/budget-scenes.ts';
import { deploymentScenes } from './testing/scenes/deployment-scenes.ts';
import { endingScenes } from './testing/scenes/ending-scenes.ts';
import { statefulSetScenes } from './testing/scenes/stateful-set-scenes.ts';
import { volumeScenes } from './testing/scenes/volume-scenes.ts';
import { type Outcome, type Scene, Side } from './testing/side.ts';

const scenes = [...statefulSetScenes, ...deploymentScenes, ...budgetScenes, ...endingScenes, ...volumeScenes];

/** Our server does not enforce pod security levels. */
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

const common = { scheduler: true, kwok: true } as const;
// The default rate limit would dominate the test time.
const extraFlags = { 'kube-api-qps': 1000, 'kube-api-burst': 1000 };
const bedOptions = {
  real: { ...common, controllerManager: { controllers: theirControllers, extraFlags } },
  same: common,
  own: { ...common, server: 'stowage', stowageControllers: ourControllers.join(',') },
} as const;

/** The server on which our controllers run. */
type Where = 'same' | 'own';

/**
 * Runs the same user actions with kube-controller-manager on the real server, and with our controllers, once on the real server and once on
 * ours. Scheduler and nodes are the real ones everywhere, so that only the controllers differ, or the controllers and the server.
 */
describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'our controllers leave the same state as kube-controller-manager',
  () => {
    const beds = {
      real: sharedBed(bedOptions.real),
      same: sharedBed(bedOptions.same),
      own: sharedBed(bedOptions.own),
    };
    const ended = new AbortController();
    const plays = { real: new Plays(), same: new Plays(), own: new Plays() };
    const met = new Set<KnownDifference>();
    let ours: Supervisor | undefined;

    beforeAll(async () => {
      ours = runOurs(await beds.same().connect(), ourControllers);
      await Promise.all(
        (['real', 'same', 'own'] as const).map(async (name) => {
          const side = new Side(await setStage(beds[name](), ended.signal));
          plays[name].begin(side, name === 'own' ? ownScenes : scenes);
        }),
      );
    });

    afterAll(async () => {
      ended.abort();
      await ours?.close();
    });

    /** The outcome of a scenario is kept. A retried test runs the scenario again, on new test beds. */
    async function outcomes(scene: Scene, where: Where, isAgain: boolean): Promise<readonly Outcome[]> {
      const both = ['real', where] as const;
      return await Promise.all(
        both.map((name) => (isAgain ? playAnew(scene, name) : plays[name].of(scene.name))),
      );
    }

    test.for(scenes)('on the real server: $name', { timeout: 300_000 }, async (scene, { task }) => {
      const [real = {}, our = {}] = await outcomes(scene, 'same', isRetry(task));
      expect(Object.keys(real)).toEqual(Object.keys(scene.acts));
      expect(unknownOf(scene.name, differencesOf(real, our), met)).toEqual([]);
    });

    test.for(ownScenes)('on our server: $name', { timeout: 300_000 }, async (scene, { task }) => {
      const [real = {}, our = {}] = await outcomes(scene, 'own', isRetry(task));
      expect(unknownOf(scene.name, differencesOf(real, our), met)).toEqual([]);
    });

    test('every known difference occurred', () => {
      expect(knownDifferences.filter((each) => each.isByChance !== true && !met.has(each))).toEqual([]);
    });
  },
);

async function playAnew(scene: Scene, where: 'real' | Where): Promise<Outcome> {
  const bed = await startBed(bedOptions[where]);
  const ended = new AbortController();
  const ours = where === 'same' ? runOurs(await bed.connect(), ourControllers) : undefined;
  try {
    return await new Side(await setStage(bed, ended.signal)).play(scene);
  } finally {
    ended.abort();
    await ours?.close();
  }
}

/** Runs the scenarios of one cluster in parallel. */
class Plays {
  readonly #outcomes = new Map<string, Promise<Outcome>>();

  begin(side: Side, played: readonly Scene[]): void {
    const outcomes = played.map((scene) => side.play(scene));
    const allOver = Promise.allSettled(outcomes);
    for (const [at, { name }] of played.entries()) {
      const outcome = allOver.then(async () => await side.withLateEvents(name, (await outcomes[at]) ?? {}));
      outcome.catch(() => {}); // The test reports the error.
      this.#outcomes.set(name, outcome);
    }
  }

  async of(name: string): Promise<Outcome> {
    const outcome = this.#outcomes.get(name);
    if (outcome === undefined) throw new Error(`${name} is not played`);
    return await outcome;
  }
}
