import { nodeNames } from '../base-cluster.ts';
import {
  attachmentsAreRecorded,
  attachmentsInUseStay,
  runningPodsAreAttached,
} from '../invariants/attachments.ts';
import {
  capacityReportsAreCurrent,
  capacityReportsAreMeasured,
  foreignCapacityReportsStay,
} from '../invariants/capacity-reports.ts';
import {
  driverKeepsVolumesInUse,
  driverLeaksNothing,
  volumesHaveTheirSize,
} from '../invariants/driver-volumes.ts';
import { expansionsKeepTheirBytes, promisesFitTheirPool } from '../invariants/pools.ts';
import type { SimulationPart } from '../part.ts';
import { type DriverFault, driverFaults, gibibyte } from '../simulated-driver.ts';

/** More than all pods of a scenario need. */
const probedGib = 200;

/** The storage outside the cluster: pools that change, a driver that fails, hangs or lies. */
export const driverPart: SimulationPart = {
  name: 'driver',
  processes: [
    {
      name: 'driver',
      controllers: ['capacity', 'attacher', 'expander'],
      knowsDriver: true,
      hasTrueClock: true,
    },
  ],
  invariants: [
    driverKeepsVolumesInUse,
    driverLeaksNothing,
    volumesHaveTheirSize,
    promisesFitTheirPool,
    expansionsKeepTheirBytes,
    capacityReportsAreMeasured,
    foreignCapacityReportsStay,
    capacityReportsAreCurrent,
    runningPodsAreAttached,
    attachmentsInUseStay,
    attachmentsAreRecorded,
  ],
  probes: [
    {
      name: 'every pool grows',
      run: ({ driver }) => {
        for (const node of nodeNames) driver.setCapacity(node, probedGib * gibibyte);
      },
    },
  ],
  actions: [
    {
      name: 'resize-pool',
      weight: 2,
      draw: (random) => ({ node: random.pick(nodeNames), gib: random.int(16) }),
      run: ({ driver }, { node, gib }) => driver.setCapacity(String(node), Number(gib) * gibibyte),
    },
    {
      name: 'fail-driver',
      weight: 4,
      isFault: true,
      draw: (random) => ({ fault: random.pick(driverFaults) }),
      run: ({ driver }, { fault }) => driver.failNext(fault as DriverFault),
    },
    {
      name: 'overstate-capacity',
      weight: 1,
      isFault: true,
      draw: (random) => ({ gib: 1 + random.int(8) }),
      run: ({ driver }, { gib }) => driver.overstate(Number(gib) * gibibyte),
    },
  ],
};
