import { TrialCluster } from '../../../testing/trial-cluster.ts';
import { SchedulerWorld, type WorldOptions } from '../../testing/scheduler-world.ts';
import { type DriverOptions, PretendDriver } from './pretend-driver.ts';

export const crowdBeside = ['pv-binder', 'protection'];

interface Crowd {
  readonly world: SchedulerWorld;
  readonly driver: PretendDriver;
}

/** A cluster whose nodes are the driver's. Without a node agent: nobody runs what is placed. */
export async function startCrowd(options: DriverOptions, more: WorldOptions = {}): Promise<Crowd> {
  const trial = await TrialCluster.start();
  const world = new SchedulerWorld(trial);
  const driver = new PretendDriver(trial.clock, options);
  await world.furnish(Object.keys(options.nodes));
  await driver.introduce(world);
  world.resume({ beside: crowdBeside, controllers: driver.controllers, ...more });
  await world.settle();
  return { world, driver };
}
