import type { Controller } from './controller.ts';
import { protection } from './volumes/protection.ts';
import { garbageCollector } from './workloads/garbage-collector.ts';
import { namespaceController } from './workloads/namespace-controller.ts';

/** Every controller there is, in the order in which they are started. Adding one is adding it here. */
export const allControllers: readonly Controller[] = [protection, garbageCollector, namespaceController];
