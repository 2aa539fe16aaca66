import type { Random } from '../../runtime/random.ts';
import { callFaults } from '../faults/connection-faults.ts';
import type { Invariant } from '../invariants/invariant.ts';
import { nothingFails, nothingKeepsWriting, writesNameTheirVersion } from '../invariants/rest.ts';
import { answersAreTrue, finalizersHoldObjects } from '../invariants/server.ts';
import type { ActionContext, ActionKind, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import type { SimulatedProcess } from '../simulated-process.ts';

const about = [nothingFails, writesNameTheirVersion, answersAreTrue, finalizersHoldObjects];

/** What happens to processes and their connections. */
export const processesPart = processesPartOf({
  name: 'processes',
  // The first ones write most, and are hit most.
  processNames: ['scheduler', 'scheduler', 'volumes', 'volumes', 'workloads', 'driver'],
  stalledResources: [
    '*',
    'pods',
    'nodes',
    'persistentvolumes',
    'persistentvolumeclaims',
    'csistoragecapacities.storage.k8s.io',
    'volumeattachments.storage.k8s.io',
    'leases.coordination.k8s.io',
  ],
  invariants: [nothingKeepsWriting, ...about],
});

/** The same for drives. */
export const driveProcessesPart = processesPartOf({
  name: 'processes of drives',
  processNames: ['drives', 'drives', 'scheduler', 'volumes', 'kubelets', 'plugin-n0', 'plugin-n1'],
  stalledResources: [
    '*',
    'drives.stowage.dev',
    'pods',
    'persistentvolumes',
    'persistentvolumeclaims',
    'csistoragecapacities.storage.k8s.io',
    'leases.coordination.k8s.io',
  ],
  invariants: about,
});

/** The same for disks. */
export const diskProcessesPart = processesPartOf({
  name: 'processes of disks',
  processNames: ['disks', 'disks-too', 'collector'],
  stalledResources: [
    '*',
    'volumes.stowage.dev',
    'replicas.stowage.dev',
    'diskschedules.stowage.dev',
    'storagenodes.stowage.dev',
    'backingimages.stowage.dev',
  ],
  invariants: about,
});

interface ProcessesPartOptions {
  readonly name: string;
  readonly processNames: readonly string[];
  readonly stalledResources: readonly string[];
  readonly invariants: readonly Invariant[];
}

function processesPartOf(options: ProcessesPartOptions): SimulationPart {
  const { name, processNames, stalledResources, invariants } = options;
  const fault = (action: string, weight: number, { draw, run }: ProcessFault): ActionKind => ({
    name: action,
    weight,
    isFault: true,
    draw: (random) => ({ process: `${random.pick(processNames)}-${random.int(2)}`, ...draw(random) }),
    run: ({ processes }: ActionContext, parameters) => {
      // There may be no such replica.
      const process = processes.get(String(parameters.process));
      if (process !== undefined) run(process, parameters);
    },
  });
  return {
    name,
    invariants,
    actions: [
      ...callFaults.map((callFault) =>
        fault(callFault, 4, {
          draw: (random) => ({ skipped: random.int(6), hitsLeases: random.int(8) === 0 }),
          run: (process, { skipped, hitsLeases }) =>
            process.armFault({
              fault: callFault,
              skipped: Number(skipped),
              hitsLeases: hitsLeases === true,
            }),
        }),
      ),
      fault('crash', 3, {
        draw: (random) => ({ forMs: random.int(30_000) }),
        run: (process, { forMs }) => process.crash(Number(forMs)),
      }),
      fault('freeze', 2, {
        draw: (random) => ({ forMs: 1_000 + random.int(40_000) }),
        run: (process, { forMs }) => process.freeze(Number(forMs)),
      }),
      fault('partition', 2, {
        draw: (random) => ({ forMs: 1_000 + random.int(20_000) }),
        run: (process, { forMs }) => process.partition(Number(forMs)),
      }),
      fault('shift-clock', 1, {
        draw: (random) => ({ ms: random.int(600_000) - 300_000 }),
        run: (process, { ms }) => process.shiftWall(Number(ms)),
      }),
      fault('stall-watches', 3, {
        draw: (random) => ({ resource: random.pick(stalledResources), forMs: 500 + random.int(20_000) }),
        run: (process, { resource, forMs }) => process.stallWatches(String(resource), Number(forMs)),
      }),
      fault('end-watches', 2, {
        draw: (random) => ({
          isExpired: random.int(2) === 0,
          silentMs: random.pick([0, random.int(10_000)]),
        }),
        run: (process, { isExpired, silentMs }) =>
          process.endWatches(isExpired === true, Number(silentMs ?? 0)),
      }),
      {
        name: 'fill-disk',
        weight: 1,
        isFault: true,
        draw: (random) => ({ forMs: 100 + random.int(8_000) }),
        run: ({ disk }, { forMs }) => disk.fill(Number(forMs)),
      },
    ],
  };
}

interface ProcessFault {
  readonly draw: (random: Random) => ActionParameters;
  readonly run: (process: SimulatedProcess, parameters: ActionParameters) => void;
}
