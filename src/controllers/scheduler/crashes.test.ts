import { describe, expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { provisionerController } from '../provisioner/provisioner-controller.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { bindingCases } from './testing/binding-cases.ts';
import { runController, seedBinding } from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { crashAfterEveryWrite } from './testing/fault-at-every-write.ts';
import { SchedulerFixture, schedulingControllers } from './testing/scheduler-fixture.ts';

describe('the final state is that of a run without faults', () => {
  test.each(bindingCases)('$name: the scheduler crashes after any write', async ({ prepare, writes }) => {
    const written = await crashAfterEveryWrite(async (fixture) => {
      runController(fixture, 'pv-binder');
      await prepare(fixture);
    });
    expect(written).toHaveLength(writes.length);
  });

  test.each(bindingCases)('$name: all controllers crash after any write', async ({ prepare, writes }) => {
    const provisioner = provisionerController({ provisioners: [new FakeProvisioner().provisioner] });
    const places = await crashControllersAtEveryWrite({
      controllers: [...schedulingControllers({ otherControllers: ['pv-binder', 'protection'] }), provisioner],
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
