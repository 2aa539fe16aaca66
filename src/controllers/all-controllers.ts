import type { Controller } from '../reconcile/controller.ts';
import { type AttacherControllerSettings, attacherController } from './attacher/attacher.ts';
import { type CapacityControllerSettings, capacityController } from './capacity/capacity-controller.ts';
import type { CsiSettings } from './csi-settings.ts';
import { type DiskAgentControllerSettings, diskAgentController } from './disk-agent/disk-agent-controller.ts';
import { type DisksControllerSettings, disksController } from './disks/disks-controller.ts';
import { type DrivesControllerSettings, drivesController } from './drives/drives-controller.ts';
import {
  type ProvisionerControllerSettings,
  provisionerController,
} from './provisioner/provisioner-controller.ts';
import { type SchedulerControllerSettings, schedulerController } from './scheduler/scheduler.ts';
import { ephemeralController } from './volumes/ephemeral/ephemeral.ts';
import { type ExpanderControllerSettings, expanderController } from './volumes/expander/expander.ts';
import { protectionController } from './volumes/protection.ts';
import { type PvBinderControllerSettings, pvBinderController } from './volumes/pv-binder/pv-binder.ts';
import { zonalUpgradeController } from './volumes/zonal-upgrade/zonal-upgrade.ts';
import { deploymentController } from './workloads/deployment/deployment-controller.ts';
import { disruptionController } from './workloads/disruption/disruption-controller.ts';
import { garbageCollectorController } from './workloads/garbage-collector.ts';
import { namespaceController } from './workloads/namespace-controller.ts';
import { type NodeAgentControllerSettings, nodeAgentController } from './workloads/node-agent/node-agent.ts';
import {
  type ServiceAccountControllerSettings,
  serviceAccountController,
} from './workloads/service-account-controller.ts';
import { statefulSetController } from './workloads/stateful-set/stateful-set-controller.ts';

/** The settings of all controllers. Each controller declares those that it reads; settings of one name are the same for all. */
export interface ControllerSettings
  extends SchedulerControllerSettings,
    PvBinderControllerSettings,
    ProvisionerControllerSettings,
    ExpanderControllerSettings,
    AttacherControllerSettings,
    CapacityControllerSettings,
    DrivesControllerSettings,
    DisksControllerSettings,
    DiskAgentControllerSettings,
    NodeAgentControllerSettings,
    ServiceAccountControllerSettings {
  /** How CSI drivers are served; without it, there are none. */
  readonly csi?: CsiSettings | undefined;
}

/** All controllers, in the order in which they start. A new controller is added here. */
export function allControllers(settings: ControllerSettings = {}): readonly Controller[] {
  const { csi, csiDrivers, volumeScheduling, version } = settings;
  const { schedulerNames, profile, rules, bindTimeoutMs, backOff } = settings;
  const { localRoot, allocationOnly, provisioners, resizers } = settings;
  const { inProcessDrivers, driveTopologyKeys, createsDiskClass, diskAgent, diskAgentFiles } = settings;
  const { csiNodes, requestToken, terminatedPodsMax, clusterAuthority } = settings;
  return [
    schedulerController({
      schedulerNames,
      profile,
      rules,
      volumeScheduling,
      version,
      bindTimeoutMs,
      backOff,
    }),
    pvBinderController({ volumeScheduling }),
    provisionerController({ localRoot, volumeScheduling, allocationOnly, provisioners, csi, csiDrivers }),
    expanderController({ csi, csiDrivers, resizers }),
    attacherController({ csi, csiDrivers }),
    protectionController,
    ephemeralController,
    zonalUpgradeController,
    capacityController({ csi, csiDrivers }),
    drivesController({ inProcessDrivers, driveTopologyKeys, version }),
    disksController({ createsDiskClass }),
    diskAgentController({ diskAgent, diskAgentFiles }),
    statefulSetController,
    deploymentController,
    nodeAgentController({ volumeScheduling, csiDrivers, csiNodes, requestToken, terminatedPodsMax }),
    garbageCollectorController,
    namespaceController,
    serviceAccountController({ clusterAuthority }),
    disruptionController,
  ];
}
