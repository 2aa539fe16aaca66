import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { SchedulerFixture, type SchedulerFixtureOptions } from '../../testing/scheduler-fixture.ts';
import { FakeDriver, type FakeDriverOptions } from './fake-driver.ts';

export const driverFixtureControllers = ['pv-binder', 'protection'];

interface Crowd {
  readonly fixture: SchedulerFixture;
  readonly driver: FakeDriver;
}

/** A cluster whose nodes are the driver's. Without a node agent: nobody runs what is placed. */
export async function startWithDriver(
  options: FakeDriverOptions,
  more: SchedulerFixtureOptions = {},
): Promise<Crowd> {
  const trial = await VirtualTimeCluster.start();
  const fixture = new SchedulerFixture(trial);
  const driver = new FakeDriver(trial.clock, options);
  await fixture.seed(Object.keys(options.nodes));
  await driver.register(fixture);
  fixture.resume({
    otherControllers: driverFixtureControllers,
    extraControllers: driver.controllers,
    ...more,
  });
  await fixture.settle();
  return { fixture, driver };
}
