import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { lacks, serverPrograms, startBed } from './bed-in-test.ts';
import { playEndings, whatIsLeft } from './testing/endings.ts';
import { steady } from './testing/steady.ts';
import { playVolumeEnds, playVolumeLives, volumeStates } from './testing/volume-lives.ts';

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
      startBed({ controllerManager: { controllers: controllers.theirs } }),
      startBed({ server: 'stowage', stowageControllers: controllers.ours }),
    ]);
    return await Promise.all(beds.map(async (bed) => await play(await bed.connect())));
  }

  test('leave the same objects as kube-controller-manager', async () => {
    const controllers = {
      theirs: ['garbage-collector-controller', 'namespace-controller', ...protecting],
      ours: 'garbage-collector,namespace,protection',
    };
    const [real = [], ours] = await bothEnds(controllers, async (cluster) => {
      await playEndings(cluster);
      return await steady(
        () => whatIsLeft(cluster),
        (left) => !left.some((line) => line.startsWith('Namespace /doomed')),
      );
    });
    expect(real.length).toBeGreaterThan(10);
    expect(ours).toEqual(real);
  }, 300_000);

  test('bind and release volumes and claims as the PV controller does', async () => {
    const controllers = {
      theirs: ['persistentvolume-binder-controller', ...protecting],
      ours: 'pv-binder,protection',
    };
    const namespace = 'default';
    const [real = [], ours] = await bothEnds(controllers, async (cluster) => {
      await playVolumeLives(cluster, namespace);
      const bound = await steady(() => volumeStates(cluster, namespace));
      await playVolumeEnds(cluster, namespace);
      return [...bound, 'then', ...(await steady(() => volumeStates(cluster, namespace)))];
    });
    expect(real.length).toBeGreaterThan(60);
    expect(ours).toEqual(real);
  }, 300_000);
});
