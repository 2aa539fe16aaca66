import { EventRecorder } from '../cluster/event-recorder.ts';
import { events } from '../cluster/resources.ts';
import { allControllers, type ControllerSettings } from './all-controllers.ts';
import type { ControllerContext } from './controller.ts';
import { SharedInformers, type SharedInformersOptions } from './shared-informers.ts';
import { Census } from './workloads/census.ts';

export interface RunOptions
  extends Omit<ControllerContext, 'informers' | 'census' | 'events'>,
    Omit<SharedInformersOptions, 'onError'>,
    ControllerSettings {
  readonly names: readonly string[];
  /** Tells processes that run the same controllers apart, in Events. */
  readonly instance: string;
  /** Told what an informer or the recorder of Events met; they go on. */
  readonly onTrouble: (error: unknown) => void;
}

/** Starts the named controllers; they end with the supervisor. */
export function runControllers(options: RunOptions): void {
  const { names, instance, onTrouble, localRoot, volumeScheduling, ...rest } = options;
  const { supervisor, cluster } = rest;
  const informers = new SharedInformers({ ...rest, onError: onTrouble });
  const census = new Census({ ...rest, onError: onTrouble });
  for (const controller of allControllers({ localRoot, volumeScheduling }).filter(({ name }) =>
    names.includes(name),
  )) {
    const random = rest.random.fork(controller.name);
    const recorder = new EventRecorder({
      ...rest,
      events: cluster.resource(events),
      reportingController: `stowage.dev/${controller.name}`,
      reportingInstance: instance,
      random: random.fork('events'),
      onError: onTrouble,
    });
    const context = { ...rest, informers, census, events: recorder, random };
    supervisor.start(`controller ${controller.name}`, (signal) => controller.run(context, signal));
  }
}
