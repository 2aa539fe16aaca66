import type { CsiServices } from '../csi/csi-server.ts';
import {
  ControllerServiceCapability_RPC_Type as ControllerCapability,
  PluginCapability_Service_Type as PluginCapability,
} from '../csi/generated/csi.ts';
import { labels } from '../kube/well-known.ts';
import type { Clock } from '../runtime/clock.ts';

export const segmentDriverName = 'segments.simulation.stowage.dev';
export const segmentClassName = 'segments';

/** How long a call of the driver lasts. */
const callMs = 20;

/**
 * A CSI driver without capacity, whose volumes are on one node each. It creates a volume in any segment of the request, and seldom in the
 * preferred one: CSI allows it.
 */
export class SimulatedSegmentDriver {
  readonly #clock: Clock;
  /** The node of each volume, by the volume's name. */
  readonly #volumes = new Map<string, string>();
  #created = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get services(): CsiServices {
    return {
      identity: {
        getPluginInfo: async () => ({ name: segmentDriverName, vendorVersion: '1' }),
        getPluginCapabilities: async () => ({
          capabilities: [
            PluginCapability.CONTROLLER_SERVICE,
            PluginCapability.VOLUME_ACCESSIBILITY_CONSTRAINTS,
          ].map((type) => ({ type: { case: 'service' as const, value: { type } } })),
        }),
        probe: async () => ({ ready: true }),
      },
      controller: {
        controllerGetCapabilities: async () => ({
          capabilities: [
            { type: { case: 'rpc' as const, value: { type: ControllerCapability.CREATE_DELETE_VOLUME } } },
          ],
        }),
        createVolume: async ({ name, capacityRange, accessibilityRequirements }, { signal }) => {
          await this.#clock.sleep(callMs, signal);
          const offered = (accessibilityRequirements?.requisite ?? []).map(
            ({ segments }) => segments[labels.hostname] ?? '',
          );
          const node = this.#volumes.get(name) ?? offered[this.#created++ % offered.length] ?? '';
          this.#volumes.set(name, node);
          const accessibleTopology = [{ segments: { [labels.hostname]: node } }];
          const capacityBytes = capacityRange?.requiredBytes ?? 0n;
          return { volume: { volumeId: name, capacityBytes, accessibleTopology } };
        },
        deleteVolume: async ({ volumeId }, { signal }) => {
          await this.#clock.sleep(callMs, signal);
          this.#volumes.delete(volumeId);
          return {};
        },
      },
    };
  }
}
