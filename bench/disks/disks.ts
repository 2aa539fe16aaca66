import type { Benchmark, Row } from '../harness.ts';
import { rounded } from '../harness.ts';
import { inParallel } from '../in-parallel.ts';
import { DiskFleet } from './disk-fleet.ts';

const gib = 2 ** 30;
const disksDefault = 100;
const volumesDefault = 10_000;
const controllers = 8;
/** As many entries as one DiskSchedule may have. */
const entriesMax = 4000;
const waitingCount = 1000;
const freedCount = 10;

/** `--nodes N` disks, `--pvs N` volumes of one replica. */
export const disksBenchmark: Benchmark = {
  name: 'disks',
  summary: 'replicas placed on disks by eight controllers, one long schedule, and volumes that wait',
  run: async (progress, sizes = {}) => {
    const disks = sizes.nodes ?? disksDefault;
    const volumes = sizes.pvs ?? volumesDefault;
    const rows: Row[] = [];
    progress(`${volumes} replicas on ${disks} disks, ${controllers} controllers with a share each`);
    rows.push(await place({ disks, volumes, isShared: true }));
    const contested = Math.min(volumes, 1000);
    progress(`${contested} replicas on ${disks} disks, ${controllers} controllers that compete`);
    rows.push(await place({ disks, volumes: contested, isShared: false }));
    const entries = Math.min(volumes, entriesMax);
    progress(`one more request on a disk with ${entries - 1} entries`);
    rows.push(await fillOneDisk(entries));
    progress(`${waitingCount} volumes wait, and a disk gains room for ${freedCount}`);
    rows.push(await wakeSome());
    return rows;
  },
};

interface PlacementWork {
  readonly disks: number;
  readonly volumes: number;
  readonly isShared: boolean;
}

async function place({ disks, volumes, isShared }: PlacementWork): Promise<Row> {
  const limitBytes = Math.ceil((volumes / disks) * 1.2) * gib;
  await using fleet = await DiskFleet.start({ disks, limitBytes, controllers, isShared });
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await inParallel(volumes, (at) => fleet.createVolume(`v${at}`, gib, at));
  await fleet.until(async () => (await fleet.granted()) === volumes);
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await fleet.until(async () => (await fleet.volumesWith('True')) === volumes);
  const perPlacement = (count = 0) => rounded(count / volumes);
  const { writes } = fleet;
  return {
    work: 'placements',
    controllers: isShared ? `${controllers}, a share each` : `${controllers}, all compete`,
    disks,
    replicas: volumes,
    seconds: rounded(seconds),
    perSecond: Math.round(volumes / seconds),
    cpuMsPerReplica: rounded((user + system) / 1000 / volumes),
    create: perPlacement(writes.get('create')),
    assign: perPlacement(writes.get('assign')),
    request: perPlacement(writes.get('request')),
    verdict: perPlacement(writes.get('verdict')),
    start: perPlacement(writes.get('start')),
    volumeStatus: perPlacement(writes.get('volume status')),
    conflicts: perPlacement(fleet.conflicts),
    versionsAboveLimit: fleet.versionsAboveLimit,
    errors: fleet.errors,
  };
}

/** How long a pass over a full schedule takes: when all of it is new, and when one request is. */
async function fillOneDisk(entries: number): Promise<Row> {
  const limitBytes = entries * gib;
  await using fleet = await DiskFleet.start({ disks: 1, limitBytes, controllers: 1, isShared: true });
  const names = Array.from({ length: entries - 1 }, (_, at) => `r${at}`);
  // Requests without an owner would be removed after a minute, which is not much on a busy machine.
  await fleet.createReplicas(names, gib);
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await fleet.request(Object.fromEntries(names.map((name) => [name, gib])));
  await fleet.until(async () => (await fleet.granted()) === entries - 1);
  const lastMs = performance.now();
  const allCpu = process.cpuUsage(cpu);
  await fleet.createVolume('last', gib, 0);
  await fleet.until(async () => (await fleet.granted()) === entries);
  const lastCpu = process.cpuUsage(cpu);
  const cpuMs = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;
  return {
    work: 'one disk',
    entries,
    allMs: Math.round(lastMs - startMs),
    allCpuMs: Math.round(cpuMs(allCpu)),
    lastRequestMs: Math.round(performance.now() - lastMs),
    lastRequestCpuMs: Math.round(cpuMs(lastCpu) - cpuMs(allCpu)),
    versionsAboveLimit: fleet.versionsAboveLimit,
    errors: fleet.errors,
  };
}

/** A full disk, volumes that wait for it, and room for a few of them. */
async function wakeSome(): Promise<Row> {
  await using fleet = await DiskFleet.start({ disks: 1, limitBytes: gib, controllers: 1, isShared: true });
  await fleet.createVolume('first', gib, 0);
  await fleet.until(async () => (await fleet.granted()) === 1);
  await inParallel(waitingCount, (at) => fleet.createVolume(`v${at}`, gib, at));
  await fleet.until(async () => (await fleet.volumesWith('False')) === waitingCount);
  fleet.resetCounts();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await fleet.setLimit(0, (1 + freedCount) * gib);
  await fleet.until(async () => (await fleet.volumesWith('True')) === 1 + freedCount);
  const { user, system } = process.cpuUsage(cpu);
  const writes = [...fleet.writes.values()].reduce((sum, count) => sum + count, 0);
  return {
    work: 'freed disk',
    waiting: waitingCount,
    roomFor: freedCount,
    placed: (await fleet.granted()) - 1,
    ms: Math.round(performance.now() - startMs),
    cpuMs: Math.round((user + system) / 1000),
    writesPerPlaced: rounded(writes / freedCount),
    errors: fleet.errors,
  };
}
