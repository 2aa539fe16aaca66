import { CsiStatusError } from '../csi/csi-errors.ts';
import type { CsiServices } from '../csi/csi-server.ts';
import {
  PluginCapability_Service_Type,
  PluginCapability_VolumeExpansion_Type,
} from '../csi/generated/csi.ts';
import { drivesDriver } from '../kube/stowage/drive.ts';
import { controllerCapabilities } from './controller/controller-service.ts';

const { CONTROLLER_SERVICE, VOLUME_ACCESSIBILITY_CONSTRAINTS } = PluginCapability_Service_Type;

type ControllerMethods = NonNullable<CsiServices['controller']>;
type NodeMethods = NonNullable<CsiServices['node']>;

export interface DrivesServicesOptions {
  readonly version: string;
  /**
   * The controller service that answers; undefined while this process does not lead, or has not read all drives. Left out in a process
   * without controller service.
   */
  readonly controller?: () => ControllerMethods | undefined;
  readonly node?: NodeMethods | undefined;
}

/**
 * The services of the driver `drives.stowage.dev`. A process with the controller service alone that does not answer says so in Probe, and
 * sidecars such as external-provisioner then wait before they take part in their own election: so the sidecar that leads is the one beside
 * the driver that leads. With the node service, the process is ready even if another one leads, because each node needs its own.
 */
export function drivesServices({ version, controller, node }: DrivesServicesOptions): CsiServices {
  return {
    identity: identityService(
      version,
      controller !== undefined,
      () => node !== undefined || controller?.() !== undefined,
    ),
    ...(controller !== undefined && { controller: forwardedController(controller) }),
    ...(node !== undefined && { node }),
  };
}

function identityService(
  version: string,
  hasController: boolean,
  isReady: () => boolean,
): CsiServices['identity'] {
  const services = [...(hasController ? [CONTROLLER_SERVICE] : []), VOLUME_ACCESSIBILITY_CONSTRAINTS];
  const value = { type: PluginCapability_VolumeExpansion_Type.ONLINE };
  const capabilities = [
    ...services.map((type) => ({ type: { case: 'service' as const, value: { type } } })),
    { type: { case: 'volumeExpansion' as const, value } },
  ];
  return {
    getPluginInfo: async () => ({ name: drivesDriver, vendorVersion: version }),
    probe: async () => ({ ready: isReady() }),
    getPluginCapabilities: async () => ({ capabilities }),
  };
}

function forwardedController(controller: () => ControllerMethods | undefined): ControllerMethods {
  return {
    // The same in every process. A client asks for them when it connects, also one that needs the node service only.
    controllerGetCapabilities: async () => ({ capabilities: controllerCapabilities }),
    createVolume: forwarded(controller, 'createVolume'),
    deleteVolume: forwarded(controller, 'deleteVolume'),
    controllerExpandVolume: forwarded(controller, 'controllerExpandVolume'),
    validateVolumeCapabilities: forwarded(controller, 'validateVolumeCapabilities'),
    controllerGetVolume: forwarded(controller, 'controllerGetVolume'),
    listVolumes: forwarded(controller, 'listVolumes'),
    getCapacity: forwarded(controller, 'getCapacity'),
  };
}

function forwarded<Name extends keyof ControllerMethods>(
  controller: () => ControllerMethods | undefined,
  name: Name,
): NonNullable<ControllerMethods[Name]> {
  const call = async (...args: readonly unknown[]): Promise<unknown> => {
    const method = controller()?.[name] as ((...args: readonly unknown[]) => Promise<unknown>) | undefined;
    if (method === undefined)
      throw new CsiStatusError('Unavailable', 'this process does not lead yet; the leader answers');
    return await method(...args);
  };
  return call as NonNullable<ControllerMethods[Name]>;
}
