import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { areDeletionsOver, remainingObjects, runDeletions } from './testing/deletions.ts';
import { untilSteady } from './testing/steady.ts';
import {
  areBindingsOver,
  areReleasesOver,
  runVolumeBindings,
  runVolumeDeletions,
  volumeStates,
} from './testing/volume-lifecycle.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

/** Runs the same actions with kube-controller-manager on the real server, and with our controllers on ours. */
describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('our controllers', () => {
  const protecting = [
    'persistentvolumeclaim-protection-controller',
    'persistentvolume-protection-controller',
  ];

  async function bothEnds(
    controllers: { readonly theirs: readonly string[]; readonly ours: string },
    play: (cluster: Cluster) => Promise<readonly string[]>,
  ): Promise<readonly (readonly string[])[]> {
    const beds = await Promise.all([
      startTestBed({ controllerManager: { controllers: controllers.theirs } }),
      startTestBed({ server: 'stowage', stowageControllers: controllers.ours }),
    ]);
    return await Promise.all(beds.map(async (bed) => await play(await bed.connect())));
  }

  test('leave the same objects as kube-controller-manager', async () => {
    const controllers = {
      theirs: ['garbage-collector-controller', 'namespace-controller', ...protecting],
      ours: 'garbage-collector,namespace,protection',
    };
    const [real = [], ours] = await bothEnds(controllers, async (cluster) => {
      await runDeletions(cluster);
      return await untilSteady(() => remainingObjects(cluster), areDeletionsOver);
    });
    expect(real.length).toBeGreaterThan(10);
    expect(ours).toEqual(real);
  }, 900_000);

  test('bind and release volumes and claims as the PV controller does', async () => {
    const controllers = {
      theirs: ['persistentvolume-binder-controller', ...protecting],
      ours: 'pv-binder,protection',
    };
    const namespace = 'default';
    const [real = [], ours] = await bothEnds(controllers, async (cluster) => {
      await runVolumeBindings(cluster, namespace);
      const bound = await untilSteady(() => volumeStates(cluster, namespace), areBindingsOver);
      await runVolumeDeletions(cluster, namespace);
      const released = await untilSteady(() => volumeStates(cluster, namespace), areReleasesOver);
      return [...bound, 'then', ...released];
    });
    expect(real.length).toBeGreaterThan(60);
    expect(ours).toEqual(real);
  }, 900_000);
});
