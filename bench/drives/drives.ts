import { CsiCallError } from '../../src/csi/csi-errors.ts';
import type { InProcessDriver } from '../../src/csi/in-process-driver.ts';
import { providePrograms } from '../../test/kubernetes/binaries.ts';
import type { Benchmark, Row } from '../harness.ts';
import { rounded } from '../harness.ts';
import { drivesPerNode, Fleet } from './fleet.ts';

const drivesDefault = 10_000;
const volumesDefault = 10_000;
const gib = 2 ** 30;
/** Calls of one controller that run at once, as external-provisioner makes them. */
const callsAtOnce = 100;

/** On kube-apiserver there are fewer, as creating them takes longer than the measurement. */
const comparedDefault = 1_000;

const ours = 'stowage, in memory and in this process';
const theirs = 'kube-apiserver + etcd';

/** `--nodes N` times ten drives, `--pvs N` volumes. */
export const drivesBenchmark: Benchmark = {
  name: 'drives',
  summary: 'CreateVolume on local drives, with our API server and with kube-apiserver',
  run: async (progress, sizes = {}) => {
    const driveCount = sizes.nodes === undefined ? drivesDefault : sizes.nodes * drivesPerNode;
    const volumeCount = sizes.pvs ?? volumesDefault;
    const rows: Row[] = [];
    for (const controllers of [1, 8]) {
      progress(`${volumeCount} volumes on ${driveCount} drives, ${controllers} controllers`);
      const fleet = await Fleet.embedded(driveCount);
      rows.push(await measure(fleet, { server: ours, driveCount, volumeCount, controllers }));
    }
    const names = ['etcd', 'kube-apiserver'] as const;
    const programs = await providePrograms({ env: process.env, report: progress, names });
    if (programs.etcd === undefined || programs['kube-apiserver'] === undefined) return rows;
    const compared = {
      driveCount: Math.min(driveCount, comparedDefault),
      volumeCount: Math.min(volumeCount, comparedDefault),
    };
    for (const controllers of [1, 8])
      for (const server of [ours, theirs]) {
        progress(`${compared.volumeCount} volumes, ${controllers} controllers: ${server}`);
        const fleet =
          server === ours
            ? await Fleet.embedded(compared.driveCount)
            : await Fleet.kubernetes(programs, compared.driveCount);
        rows.push(await measure(fleet, { server, controllers, ...compared }));
      }
    return rows;
  },
};

interface Work {
  readonly server: string;
  readonly driveCount: number;
  readonly volumeCount: number;
  readonly controllers: number;
}

async function measure(started: Fleet, { server, driveCount, volumeCount, controllers }: Work): Promise<Row> {
  await using fleet = started;
  const drivers = await Promise.all(Array.from({ length: controllers }, (_, at) => fleet.controller(at)));
  const times: number[] = [];
  let next = 0;
  let aborted = 0;
  const worker = async (driver: InProcessDriver): Promise<void> => {
    while (next < volumeCount) {
      const name = `pvc-${next++}`;
      const startMs = performance.now();
      aborted += await create(driver, name, next);
      times.push(performance.now() - startMs);
    }
  };
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const calls = Math.ceil(callsAtOnce / controllers);
  await Promise.all(drivers.flatMap((driver) => Array.from({ length: calls }, () => worker(driver))));
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  return {
    work: 'CreateVolume',
    server,
    drives: driveCount,
    controllers,
    volumes: volumeCount,
    perSecond: Math.round(volumeCount / seconds),
    p50Ms: rounded(times[times.length >> 1] ?? 0),
    p99Ms: rounded(times[Math.floor(times.length * 0.99)] ?? 0),
    cpuMsPerVolume: rounded((user + system) / 1000 / volumeCount),
    writesPerVolume: rounded(fleet.writes / volumeCount),
    readsPerVolume: rounded(fleet.reads / volumeCount),
    aborted,
  };
}

/** Repeats an aborted call, as provisioners do; returns how often. */
async function create(driver: InProcessDriver, name: string, at: number): Promise<number> {
  const segments = { 'stowage.dev/zone': `z${at % 3}` };
  for (let repeats = 0; ; repeats += 1) {
    try {
      await driver.call(
        'CreateVolume',
        {
          name,
          volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
          capacityRange: { requiredBytes: BigInt(gib) },
          accessibilityRequirements: { requisite: [{ segments }], preferred: [{ segments }] },
        },
        { signal: new AbortController().signal },
      );
      return repeats;
    } catch (error) {
      if (!(error instanceof CsiCallError) || error.code !== 'Aborted') throw error;
    }
  }
}
