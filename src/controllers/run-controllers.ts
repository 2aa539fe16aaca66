import type { Controller, ControllerContext } from './controller.ts';
import type { ControllerName } from './controller-names.ts';
import { SharedInformers, type SharedInformersOptions } from './shared-informers.ts';
import { protection } from './volumes/protection.ts';
import { Census } from './workloads/census.ts';
import { garbageCollector } from './workloads/garbage-collector.ts';
import { namespaceController } from './workloads/namespace-controller.ts';

const controllers: readonly Controller[] = [protection, garbageCollector, namespaceController];

export interface RunOptions
  extends Omit<ControllerContext, 'informers' | 'census'>,
    Omit<SharedInformersOptions, 'onError'> {
  readonly names: readonly ControllerName[];
  readonly onInformerError: (error: unknown) => void;
}

/** Starts the named controllers; they end with the supervisor. */
export function runControllers(options: RunOptions): void {
  const { names, onInformerError, ...rest } = options;
  const informers = new SharedInformers({ ...rest, onError: onInformerError });
  const census = new Census({ ...rest, onError: onInformerError });
  const { supervisor } = rest;
  for (const controller of controllers.filter(({ name }) => names.includes(name))) {
    const context = { ...rest, informers, census, random: rest.random.fork(controller.name) };
    supervisor.start(`controller ${controller.name}`, (signal) => controller.run(context, signal));
  }
}
