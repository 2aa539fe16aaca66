import type { Controller } from '../reconcile/controller.ts';
import type { Provisioner } from './provisioner/provisioner.ts';
import { provisionerController } from './provisioner/provisioner-controller.ts';
import { createScheduler, type SchedulerOptions } from './scheduler/scheduler.ts';
import { ephemeral } from './volumes/ephemeral/ephemeral.ts';
import { expander } from './volumes/expander/expander.ts';
import { protection } from './volumes/protection.ts';
import { createPvBinder } from './volumes/pv-binder/pv-binder.ts';
import { zonalUpgrade } from './volumes/zonal-upgrade/zonal-upgrade.ts';
import { deployment } from './workloads/deployment/deployment-controller.ts';
import { disruption } from './workloads/disruption/disruption-controller.ts';
import { garbageCollector } from './workloads/garbage-collector.ts';
import { namespaceController } from './workloads/namespace-controller.ts';
import { nodeAgent } from './workloads/node-agent/node-agent.ts';
import {
  type ServiceAccountOptions,
  serviceAccountController,
} from './workloads/service-account-controller.ts';
import { statefulSet } from './workloads/stateful-set/stateful-set-controller.ts';

/** What some controllers need to know of the machine. */
export interface ControllerSettings extends ServiceAccountOptions {
  /** Where `local.stowage.dev` puts its directories; left out, there is no such provisioner. */
  readonly localRoot?: string | undefined;
  /** Provisioners beside those that are built in. */
  readonly provisioners?: readonly Provisioner[];
  /** The gate of that name; on by default. Off: claims don't wait for their first consumer. */
  readonly volumeScheduling?: boolean | undefined;
  /** `spec.schedulerName` of the pods that the scheduler looks after; `stowage` alone by default. */
  readonly schedulerNames?: readonly string[] | undefined;
  /** What the scheduler decides by; that of Stowage by default. */
  readonly profile?: SchedulerOptions['profile'];
  /** How long others may take to make and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
  /** Of pods that the scheduler could not place. */
  readonly backOff?: SchedulerOptions['backOff'];
  /** Of this program; what components of other versions are compared with. */
  readonly version?: string | undefined;
}

/** Every controller there is, in the order in which they are started. Adding one is adding it here. */
export function allControllers(settings: ControllerSettings = {}): readonly Controller[] {
  return [
    createScheduler(settings),
    createPvBinder(settings),
    provisionerController(settings),
    expander,
    protection,
    ephemeral,
    zonalUpgrade,
    statefulSet,
    deployment,
    nodeAgent,
    garbageCollector,
    namespaceController,
    serviceAccountController(settings),
    disruption,
  ];
}
