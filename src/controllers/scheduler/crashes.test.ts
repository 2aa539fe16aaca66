import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { provisionerController } from '../provisioner/provisioner-controller.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { bindingCases } from './testing/binding-cases.ts';
import { runController, seedBinding } from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { crashAfterEveryWrite } from './testing/fault-at-every-write.ts';
import { SchedulerFixture, schedulingControllers } from './testing/scheduler-fixture.ts';

describe('the end is that of a run in peace', () => {
  test.each(bindingCases)('$name: the scheduler dies after any write', async ({ prepare, writes }) => {
    const written = await crashAfterEveryWrite(async (fixture) => {
      runController(fixture, 'pv-binder');
      await prepare(fixture);
    });
    expect(written).toHaveLength(writes.length);
  });

  test.each(bindingCases)('$name: everybody dies after any write', async ({ prepare, writes }) => {
    const maker = provisionerController({ provisioners: [new FakeProvisioner().provisioner] });
    const places = await crashControllersAtEveryWrite({
      controllers: [...schedulingControllers({ otherControllers: ['pv-binder', 'protection'] }), maker],
      prepare: async (environment) => {
        const fixture = new SchedulerFixture(environment);
        await seedBinding(fixture);
        await prepare(fixture);
      },
      resources: [pods, persistentVolumeClaims, persistentVolumes],
      settleMs: 5_000,
    });
    expect(places).toBeGreaterThan(writes.length);
  });
});
