import { type ClusterHooks, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../../cluster/testing/fault-hooks.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { failure } from '../../../kube/api-error.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import {
  pvControllerCompletes,
  runController,
  runProvisioner,
  runScheduler,
  schedulerCompletes,
  seedBinding,
} from './binding-fixture.ts';
import { FakeProvisioner } from './fake-provisioner.ts';
import { SchedulerFixture } from './scheduler-fixture.ts';

/** The work for two schedulers with the same name. */
export interface CompetitionOptions {
  readonly seed: number;
  /** Whether the schedulers complete bindings themselves. */
  readonly completes: boolean;
  /** Existing disks of each node. */
  readonly disks: readonly number[];
  /** For each pod, how many existing and new volumes it needs. */
  readonly pods: readonly { readonly existing: number; readonly provisioned: number }[];
}

/** How long requests fail. */
const faultyMs = 8_000;
/** Enough for every back-off, and less than it takes a sweep to find pods that were missed. */
const faultlessMs = 100_000;

/** Returns the violated invariants at the end, and the summaries before and after a third scheduler has run alone. */
export async function runCompetingSchedulers(options: CompetitionOptions) {
  await using fixture = new SchedulerFixture(await VirtualTimeCluster.start());
  const random = seededRandom(options.seed);
  const provisioner = new FakeProvisioner();
  const scheduler = options.completes ? schedulerCompletes : pvControllerCompletes;
  const names = options.disks.map((_, at) => `n${at + 1}`);
  await seedBinding(fixture, names);
  for (const name of ['pv-binder', 'protection']) runController(fixture, name);
  runProvisioner(fixture, provisioner);
  const schedulers = ['one', 'two'].map((name) => {
    const connection = new InterceptedCluster(fixture.cluster);
    const repair = connection.addHooks(onlyFor(isObjectWrite, faultsFrom(random.fork(name), fixture)));
    return { repair, run: runScheduler(fixture, scheduler, connection) };
  });
  provisioner.outcome = () => (random.next() < 0.2 ? 'refuses' : 'creates');
  await createWork(fixture, options);
  await fixture.settle(faultyMs);
  for (const { repair } of schedulers) repair();
  provisioner.outcome = () => 'creates';
  await fixture.settle(faultlessMs);
  const before = await fixture.summary();
  for (const { run } of schedulers) await run.close();
  runScheduler(fixture, scheduler);
  await fixture.settle(5_000);
  return { violations: await violationsOf(fixture), before, after: await fixture.summary() };
}

/** Delays requests and watch events, fails writes with conflicts and errors, and loses some responses. */
function faultsFrom(random: Random, { environment }: SchedulerFixture): ClusterHooks {
  const never = new AbortController().signal;
  const pause = (maxMs: number) => environment.clock.sleep(random.int(maxMs), never);
  const maybeFail = (chance: number) => {
    if (random.next() >= chance) return;
    const isConflict = random.next() < 0.5;
    throw isConflict ? failure(409, 'Conflict', 'too late') : failure(500, 'InternalError', 'etcd is away');
  };
  return {
    before: async () => {
      await pause(40);
      maybeFail(0.15);
    },
    after: () => maybeFail(0.1),
    onWatchEvent: async () => {
      if (random.next() < 0.2) await pause(60);
      return undefined;
    },
  };
}

async function createWork(
  fixture: SchedulerFixture,
  { disks, pods: wanted }: CompetitionOptions,
): Promise<void> {
  for (const [at, count] of disks.entries())
    for (let disk = 1; disk <= count; disk += 1) await fixture.disk(`d${at + 1}${disk}`, '5Gi', `n${at + 1}`);
  for (const [at, { existing, provisioned }] of wanted.entries()) {
    const claims: string[] = [];
    for (let which = 0; which < existing + provisioned; which += 1) {
      const name = `p${at}-${which}`;
      claims.push(name);
      await fixture.claim(name, '5Gi', { storageClassName: which < existing ? 'local' : 'provisioned' });
    }
    await fixture.pod(`p${at}`, claims);
    await fixture.settle(20);
  }
}

async function violationsOf({ cluster }: SchedulerFixture): Promise<readonly string[]> {
  const claims = (await cluster.resource(persistentVolumeClaims).list()).items;
  const volumes = (await cluster.resource(persistentVolumes).list()).items;
  const all = (await cluster.resource(pods).list()).items;
  return [
    ...claims.flatMap((claim) => claimViolations(claim, volumes)),
    ...all.flatMap((pod) => podViolations(pod, claims, volumes)),
  ];
}

/** A volume that a claim names must be its own. */
function claimViolations(
  { metadata, spec }: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): string[] {
  if (spec?.volumeName === undefined) return [];
  const volume = volumes.find((one) => one.metadata?.name === spec.volumeName);
  const isOwn = volume?.spec?.claimRef?.uid === metadata?.uid;
  return isOwn ? [] : [`claim ${metadata?.name} names ${spec.volumeName}, which is not its own`];
}

function podViolations(
  { metadata, spec }: Pod,
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
): string[] {
  const { nodeName } = spec ?? {};
  if (nodeName === undefined) return [];
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
    const name = persistentVolumeClaim?.claimName;
    const claim = claims.find((one) => one.metadata?.name === name);
    const volume = volumes.find((one) => one.metadata?.name === claim?.spec?.volumeName);
    return volume !== undefined && hostOf(volume) === nodeName
      ? []
      : [`pod ${metadata?.name} on ${nodeName} can't reach the volume of ${name}`];
  });
}

function hostOf({ spec }: PersistentVolume): string | undefined {
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.find(({ key }) => key === labels.hostname)?.values?.[0];
}
