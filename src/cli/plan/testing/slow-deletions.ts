import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { Clock } from '../../../runtime/clock.ts';

/**
 * The same drivers, except that they take a while to delete a volume. Otherwise its bytes would come free at the very time at which the claim, the volume and the
 * pod are written, each of which wakes pods; and the pod that happens to be in the scheduler's hands would get the bytes, whatever its priority.
 */
export function withSlowDeletions(drivers: CsiDriverSet, clock: Clock, takesMs: number): CsiDriverSet {
  const slow = new Map<ServedCsiDriver, ServedCsiDriver>();
  const of = (driver: ServedCsiDriver) => {
    const known = slow.get(driver) ?? withSlowDeletion(driver, clock, takesMs);
    slow.set(driver, known);
    return known;
  };
  return {
    get: (name) => {
      const driver = drivers.get(name);
      return driver && of(driver);
    },
    all: () => drivers.all().map(of),
    onJoin: (listener) => drivers.onJoin((driver) => listener(of(driver))),
  };
}

function withSlowDeletion(driver: ServedCsiDriver, clock: Clock, takesMs: number): ServedCsiDriver {
  return {
    name: driver.name,
    hasTopology: driver.hasTopology,
    hasPluginCapability: (capability) => driver.hasPluginCapability(capability),
    hasControllerCapability: (capability) => driver.hasControllerCapability(capability),
    hasNodeCapability: (capability) => driver.hasNodeCapability(capability),
    call: async (name, request, options) => {
      if (name === 'DeleteVolume') await clock.sleep(takesMs, options.signal);
      return await driver.call(name, request, options);
    },
    onCallEnd: (listener) => driver.onCallEnd(listener),
    onCapacityChange: driver.onCapacityChange,
  };
}
