import type { SimulationPart } from './part.ts';
import { disksPart } from './parts/disks.ts';
import { driverPart } from './parts/driver.ts';
import { drivesPart } from './parts/drives.ts';
import { nodesPart } from './parts/nodes.ts';
import { diskProcessesPart, driveProcessesPart, processesPart } from './parts/processes.ts';
import { rareDiskMomentsPart } from './parts/rare-disk-moments.ts';
import { rareMomentsPart } from './parts/rare-moments.ts';
import { schedulingPart } from './parts/scheduling.ts';
import { volumesPart } from './parts/volumes.ts';
import { workloadsPart } from './parts/workloads.ts';
import type { SimulationSubject } from './scenario.ts';

/** What scenarios about pods and their volumes consist of. A new controller adds its part here. */
const podParts: readonly SimulationPart[] = [
  schedulingPart,
  volumesPart,
  driverPart,
  workloadsPart,
  nodesPart,
  processesPart,
  rareMomentsPart,
];

/** The driver of drives is one of ours, so it takes the place of the simulated one. */
const driveParts: readonly SimulationPart[] = [drivesPart, nodesPart, driveProcessesPart];

/** Disks have no effect on pods but by claims, so they have scenarios of their own, which are small and quick. */
const diskParts: readonly SimulationPart[] = [disksPart, diskProcessesPart, rareDiskMomentsPart];

const partsBySubject = { pods: podParts, drives: driveParts, disks: diskParts } as const;

/** Everything that takes part in a scenario about this subject. */
export function partsOf(subject: SimulationSubject = 'pods'): readonly SimulationPart[] {
  return partsBySubject[subject];
}

/** All parts, each once; where two have something in common, it is there twice. */
export const allParts: readonly SimulationPart[] = [...new Set(Object.values(partsBySubject).flat())];
