import type { JoiningDriverSet } from '../csi/joining-driver-set.ts';
import type { CsiDriverSet } from '../csi/served-driver.ts';
import type { Controller } from '../reconcile/controller.ts';
import { createAttacher } from './attacher/attacher.ts';
import { capacityController } from './capacity/capacity-controller.ts';
import type { CsiSettings } from './csi-settings.ts';
import { type DiskAgentControllerSettings, diskAgentController } from './disk-agent/disk-agent-controller.ts';
import { createDisksController, type DisksControllerSettings } from './disks/disks-controller.ts';
import { drivesController } from './drives/drives-controller.ts';
import type { Provisioner } from './provisioner/provisioner.ts';
import { provisionerController } from './provisioner/provisioner-controller.ts';
import { createScheduler, type SchedulerOptions } from './scheduler/scheduler.ts';
import { ephemeral } from './volumes/ephemeral/ephemeral.ts';
import { createExpander } from './volumes/expander/expander.ts';
import { protection } from './volumes/protection.ts';
import { createPvBinder } from './volumes/pv-binder/pv-binder.ts';
import { zonalUpgrade } from './volumes/zonal-upgrade/zonal-upgrade.ts';
import { deployment } from './workloads/deployment/deployment-controller.ts';
import { disruption } from './workloads/disruption/disruption-controller.ts';
import { garbageCollector } from './workloads/garbage-collector.ts';
import { namespaceController } from './workloads/namespace-controller.ts';
import type { CsiNodeSettings } from './workloads/node-agent/csi-records/connect-node-plugins.ts';
import type { CsiNodeSources } from './workloads/node-agent/csi-records/node-plugins.ts';
import { createNodeAgent, type NodeAgentOptions } from './workloads/node-agent/node-agent.ts';
import {
  type ServiceAccountOptions,
  serviceAccountController,
} from './workloads/service-account-controller.ts';
import { statefulSet } from './workloads/stateful-set/stateful-set-controller.ts';

/** Settings of the machine that some controllers need. */
export interface ControllerSettings
  extends ServiceAccountOptions,
    DisksControllerSettings,
    DiskAgentControllerSettings {
  /** Where `local.stowage.dev` creates its directories; if left out, there is no such provisioner. */
  readonly localRoot?: string | undefined;
  /** `disks.stowage.dev` allocates volumes although no node can mount them. */
  readonly allocationOnly?: boolean | undefined;
  /** Provisioners in addition to the built-in ones. */
  readonly provisioners?: readonly Provisioner[];
  /** How CSI drivers are served; without it, there are none. */
  readonly csi?: CsiSettings | undefined;
  /** The CSI drivers that this process serves; by default those at the addresses of `csi`. */
  readonly csiDrivers?: CsiDriverSet | undefined;
  /** The set that the driver of local drives joins, which is `csiDrivers` too; without it, the controller `drives` does nothing. */
  readonly inProcessDrivers?: JoiningDriverSet | undefined;
  /** Labels of Nodes that are topology segments of their local drives, beside zone and region. */
  readonly driveTopologyKeys?: readonly string[] | undefined;
  /** The CSI node plugins of simulated nodes; without it, there are none. */
  readonly csiNode?: CsiNodeSettings | undefined;
  /** The same as connections; by default those at the addresses of `csiNode`. */
  readonly csiNodes?: CsiNodeSources | undefined;
  /** Issues the service account tokens that CSI drivers ask for. */
  readonly requestToken?: NodeAgentOptions['requestToken'];
  /** The feature gate of that name; on by default. Off: claims do not wait for their first consumer. */
  readonly volumeScheduling?: boolean | undefined;
  /** `spec.schedulerName` of the pods that the scheduler handles; only `stowage` by default. */
  readonly schedulerNames?: readonly string[] | undefined;
  /** The profile of the scheduler; `stowage` by default. */
  readonly profile?: SchedulerOptions['profile'];
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
  /** The back-off of pods that the scheduler could not place. */
  readonly backOff?: SchedulerOptions['backOff'];
  /** The version of this program, which is compared with that of other components. */
  readonly version?: string | undefined;
}

/** All controllers, in the order in which they start. A new controller is added here. */
export function allControllers(settings: ControllerSettings = {}): readonly Controller[] {
  return [
    createScheduler(settings),
    createPvBinder(settings),
    provisionerController(settings),
    createExpander(settings),
    createAttacher(settings),
    protection,
    ephemeral,
    zonalUpgrade,
    capacityController(settings),
    drivesController(settings),
    createDisksController(settings),
    diskAgentController(settings),
    statefulSet,
    deployment,
    createNodeAgent(settings),
    garbageCollector,
    namespaceController,
    serviceAccountController(settings),
    disruption,
  ];
}
