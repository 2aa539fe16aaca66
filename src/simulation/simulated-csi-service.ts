import type { CsiServices } from '../csi/csi-server.ts';
import {
  ControllerServiceCapability_RPC_Type as ControllerCapability,
  PluginCapability_Service_Type as PluginCapability,
} from '../csi/generated/csi.ts';
import { labels } from '../kube/well-known.ts';
import type { Clock } from '../runtime/clock.ts';
import { driverName, type SimulatedDriver } from './simulated-driver.ts';

/** How long a call of the driver lasts. */
const callMs = 20;

const controllerCapabilities = ['GET_CAPACITY', 'PUBLISH_UNPUBLISH_VOLUME', 'EXPAND_VOLUME'] as const;

/**
 * The storage of the simulation as a CSI driver, for the controllers `capacity`, `attacher` and `expander`. Volumes are created by a provisioner of its
 * own. A call of a process that has ended does not arrive.
 */
export function csiServicesOf(driver: SimulatedDriver, clock: Clock): CsiServices {
  const during = async <T>(signal: AbortSignal, work: () => T): Promise<T> => {
    signal.throwIfAborted();
    const result = work();
    await clock.sleep(callMs, signal);
    return result;
  };
  return {
    identity: identityOf(),
    controller: {
      controllerGetCapabilities: async () => ({
        capabilities: controllerCapabilities.map((name) => ({
          type: { case: 'rpc' as const, value: { type: ControllerCapability[name] } },
        })),
      }),
      getCapacity: ({ accessibleTopology }, { signal }) =>
        during(signal, () => {
          const node = accessibleTopology?.segments[labels.hostname] ?? '';
          return { availableCapacity: BigInt(driver.measure(node)) };
        }),
      controllerExpandVolume: async ({ volumeId, capacityRange }, { signal }) => {
        const bytes = await driver.expand(volumeId, Number(capacityRange?.requiredBytes ?? 0n), signal);
        return { capacityBytes: BigInt(bytes), nodeExpansionRequired: false };
      },
      controllerPublishVolume: ({ volumeId, nodeId }, { signal }) =>
        during(signal, () => {
          driver.attach(volumeId, nodeId);
          return {};
        }),
      controllerUnpublishVolume: ({ volumeId, nodeId }, { signal }) =>
        during(signal, () => {
          driver.detach(volumeId, nodeId);
          return {};
        }),
    },
  };
}

function identityOf(): CsiServices['identity'] {
  const services = [PluginCapability.CONTROLLER_SERVICE, PluginCapability.VOLUME_ACCESSIBILITY_CONSTRAINTS];
  return {
    getPluginInfo: async () => ({ name: driverName, vendorVersion: '1' }),
    getPluginCapabilities: async () => ({
      capabilities: services.map((type) => ({ type: { case: 'service' as const, value: { type } } })),
    }),
    probe: async () => ({ ready: true }),
  };
}
