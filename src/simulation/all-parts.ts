import type { SimulationPart } from './part.ts';
import { driverPart } from './parts/driver.ts';
import { nodesPart } from './parts/nodes.ts';
import { processesPart } from './parts/processes.ts';
import { rareMomentsPart } from './parts/rare-moments.ts';
import { schedulingPart } from './parts/scheduling.ts';
import { volumesPart } from './parts/volumes.ts';
import { workloadsPart } from './parts/workloads.ts';

/** Everything that takes part in the simulation. A new controller adds its part here. */
export const allParts: readonly SimulationPart[] = [
  schedulingPart,
  volumesPart,
  driverPart,
  workloadsPart,
  nodesPart,
  processesPart,
  rareMomentsPart,
];
