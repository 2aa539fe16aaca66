import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { SchedulerFixture, type SchedulerFixtureOptions } from '../../testing/scheduler-fixture.ts';
import { FakeDriver, type FakeDriverOptions } from './fake-driver.ts';

export const driverFixtureControllers = ['pv-binder', 'protection'];

interface DriverFixture {
  readonly fixture: SchedulerFixture;
  readonly driver: FakeDriver;
}

/** A cluster with the driver's nodes. Without a node agent, so pods that are placed never run. */
export async function startWithDriver(
  options: FakeDriverOptions,
  more: SchedulerFixtureOptions = {},
): Promise<DriverFixture> {
  const environment = await VirtualTimeCluster.start();
  const fixture = new SchedulerFixture(environment);
  const driver = new FakeDriver(environment.clock, options);
  await fixture.seed(Object.keys(options.nodes));
  await driver.register(fixture);
  fixture.startControllers({
    otherControllers: driverFixtureControllers,
    extraControllers: driver.controllers,
    ...more,
  });
  await fixture.settle();
  return { fixture, driver };
}
