import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { provisionerController } from '../provisioner/provisioner-controller.ts';
import { crashEverywhere } from '../testing/crash-everywhere.ts';
import { furnishBinding, runBeside } from './testing/binding-fixture.ts';
import { dieEverywhere } from './testing/every-write.ts';
import { Maker } from './testing/maker.ts';
import { SchedulerFixture, schedulingControllers } from './testing/scheduler-fixture.ts';
import { situations } from './testing/situations.ts';

describe('the end is that of a run in peace', () => {
  test.each(situations)('$name: the scheduler dies after any write', async ({ prepare, writes }) => {
    const written = await dieEverywhere(async (fixture) => {
      runBeside(fixture, 'pv-binder');
      await prepare(fixture);
    });
    expect(written).toHaveLength(writes.length);
  });

  test.each(situations)('$name: everybody dies after any write', async ({ prepare, writes }) => {
    const maker = provisionerController({ provisioners: [new Maker().provisioner] });
    const places = await crashEverywhere({
      controllers: [...schedulingControllers({ beside: ['pv-binder', 'protection'] }), maker],
      prepare: async (trial) => {
        const fixture = new SchedulerFixture(trial);
        await furnishBinding(fixture);
        await prepare(fixture);
      },
      resources: [pods, persistentVolumeClaims, persistentVolumes],
      settleMs: 5_000,
    });
    expect(places).toBeGreaterThan(writes.length);
  });
});
