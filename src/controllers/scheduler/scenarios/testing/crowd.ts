import { TrialCluster } from '../../../testing/trial-cluster.ts';
import { type FixtureOptions, SchedulerFixture } from '../../testing/scheduler-fixture.ts';
import { type DriverOptions, PretendDriver } from './pretend-driver.ts';

export const crowdBeside = ['pv-binder', 'protection'];

interface Crowd {
  readonly fixture: SchedulerFixture;
  readonly driver: PretendDriver;
}

/** A cluster whose nodes are the driver's. Without a node agent: nobody runs what is placed. */
export async function startCrowd(options: DriverOptions, more: FixtureOptions = {}): Promise<Crowd> {
  const trial = await TrialCluster.start();
  const fixture = new SchedulerFixture(trial);
  const driver = new PretendDriver(trial.clock, options);
  await fixture.furnish(Object.keys(options.nodes));
  await driver.introduce(fixture);
  fixture.resume({ beside: crowdBeside, controllers: driver.controllers, ...more });
  await fixture.settle();
  return { fixture, driver };
}
