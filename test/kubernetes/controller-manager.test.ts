import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { Resource } from '../../src/kube/resource.ts';
import {
  configMaps,
  daemonSets,
  namespaces,
  replicationControllers,
  serviceAccounts,
} from '../../src/kube/resources.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { errorKindsIn } from './testing/klog.ts';
import { unexpectedLinesEitherWay } from './testing/known-differences.ts';
import { differencesOf } from './testing/outcome-differences.ts';
import { untilPrinted } from './testing/run-scheduler.ts';
import {
  type ScenarioContext,
  type ScenarioOutcome,
  ScenarioRunner,
  type UserScenario,
} from './testing/scenario-runner.ts';
import { setUpCluster } from './testing/scenario-setup.ts';
import { applyUserScenarios } from './testing/scenarios/apply-scenarios.ts';
import { batchScenarios, cronJobs, jobs, minutely } from './testing/scenarios/batch-scenarios.ts';
import { budgetUserScenarios } from './testing/scenarios/budget-scenarios.ts';
import { deletionUserScenarios } from './testing/scenarios/deletion-scenarios.ts';
import { deploymentScenarios } from './testing/scenarios/deployment-scenarios.ts';
import { statefulSetScenarios } from './testing/scenarios/stateful-set-scenarios.ts';
import { volumeScenarios } from './testing/scenarios/volume-scenarios.ts';
import { servedControllers } from './testing/unserved-controllers.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

/**
 * Rounds start until this time has passed. To run longer:
 *
 *     SOAK_SECONDS=600 npm run test:kubernetes -- test/kubernetes/controller-manager.test.ts
 */
const soakMs = Number(process.env.SOAK_SECONDS ?? 60) * 1000;
const roundMaxMs = 600_000;
const pollMs = 200;

/** Our server does not enforce pod security levels. */
const scenarios = [
  ...statefulSetScenarios,
  ...deploymentScenarios,
  ...budgetUserScenarios,
  ...deletionUserScenarios,
  ...volumeScenarios,
  ...batchScenarios,
  ...applyUserScenarios,
].filter(({ needsPodSecurity }) => needsPodSecurity !== true);

/** These scenarios create objects outside of their namespace, which a second round would find. */
const onceOnly = ['volume-lifecycle', 'default-class'];

/** The controllers that `stowage run` replaces. */
const swapped = ['persistentvolume-binder-controller', 'statefulset-controller'];
const swappedIn = 'pv-binder,statefulset';

type Round = ReadonlyMap<string, ScenarioOutcome>;

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'kube-controller-manager',
  () => {
    /** The outcome of kube-controller-manager on the real server. */
    let expected: Round | undefined;

    test(
      'leaves the same objects on our server as on the real one, and logs no other errors',
      async () => {
        const [real, ours] = await Promise.all([open('kubernetes'), open('stowage')]);
        const differences: string[] = [];
        const untilMs = Date.now() + soakMs;
        for (let round = 1; round === 1 || Date.now() < untilMs; round++) {
          const [theirs, our] = await Promise.all([runRound(real, round), runRound(ours, round)]);
          differences.push(...compareRounds(theirs, our));
          if (round === 1) expected = theirs;
        }
        expect(differences).toEqual([]);
        const known = errorKindsIn(real.bed.logs('kube-controller-manager'));
        const log = ours.bed.logs('kube-controller-manager');
        expect(errorKindsIn(log).filter((kind) => !known.includes(kind))).toEqual([]);
        expect(log).not.toContain('panic');
        expect(ours.bed.pidOf('kube-controller-manager')).toBeDefined();
      },
      soakMs + 2 * roundMaxMs,
    );

    test(
      'leaves the same objects if two of its controllers are replaced by ours, on either server',
      async () => {
        const both = (['kubernetes', 'stowage'] as const).map(async (server) => {
          const opened = await open(server, swapped);
          await standIn(opened.bed);
          return await runRound(opened, 1);
        });
        expected ??= await runRound(await open('kubernetes'), 1);
        for (const round of await Promise.all(both)) expect(compareRounds(expected, round)).toEqual([]);
      },
      2 * roundMaxMs,
    );
  },
);

interface OpenCluster {
  readonly bed: TestBed;
  readonly cluster: Cluster;
  readonly runner: ScenarioRunner;
}

/** Runs all controllers whose kinds our server has, except those in `without`. */
async function open(server: 'kubernetes' | 'stowage', without: readonly string[] = []): Promise<OpenCluster> {
  const bed = await startTestBed({
    server,
    scheduler: true,
    kwok: true,
    controllerManager: {
      leaderElect: true,
      controllers: [...servedControllers, ...without.map((controller) => `-${controller}`)],
      // The default rate limit would dominate the test time.
      extraFlags: { 'kube-api-qps': 1000, 'kube-api-burst': 1000 },
    },
  });
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const cluster = await setUpCluster(bed, ended.signal);
  const name = 'by-the-clock';
  await cluster.resource(namespaces).create({ metadata: { name } });
  await cluster.resource(cronJobs).create(minutely(name));
  // Otherwise the log depends on timing: a controller may find an object at its start or receive it as an event.
  while (!bed.logs('kube-controller-manager').includes('all resource monitors have synced')) await sleep(50);
  const more = [daemonSets, replicationControllers, jobs, cronJobs];
  return { bed, cluster, runner: new ScenarioRunner(cluster, { more, untilPopulated }) };
}

/** Waits for the objects that kube-controller-manager creates in every namespace. */
async function untilPopulated({ cluster, namespace }: ScenarioContext): Promise<void> {
  const found = async (resource: Resource, name: string) =>
    (await cluster.resource(resource).list({ namespace })).items.some(
      ({ metadata }) => metadata?.name === name,
    );
  while (!(await found(serviceAccounts, 'default'))) await sleep(pollMs);
  while (!(await found(configMaps, 'kube-root-ca.crt'))) await sleep(pollMs);
}

async function standIn({ kubeconfig }: TestBed): Promise<void> {
  const stowage = new StowageProcess(['run', '--kubeconfig', kubeconfig, '--controllers', swappedIn]);
  onTestFinished(async () => await stowage.kill());
  await untilPrinted(stowage, 'statefulset: this process leads');
  await untilPrinted(stowage, 'pv-binder: this process leads');
}

/** Runs all scenarios in parallel, each in its own namespace, and then deletes the namespaces with their content. */
async function runRound({ runner, cluster }: OpenCluster, round: number): Promise<Round> {
  const started = scenarios.filter(({ name }) => round === 1 || !onceOnly.includes(name));
  const outcomes = await Promise.all(
    started.map(async (scenario) => [scenario.name, await runner.run(inRound(scenario, round))] as const),
  );
  const late = outcomes.map(
    async ([name, outcome]) => [name, await runner.withLateEvents(`${name}-${round}`, outcome)] as const,
  );
  const complete = new Map(await Promise.all(late));
  await removeNamespaces(cluster, `-${round}`);
  return complete;
}

function inRound(scenario: UserScenario, round: number): UserScenario {
  return { ...scenario, name: `${scenario.name}-${round}` };
}

async function removeNamespaces(cluster: Cluster, suffix: string): Promise<void> {
  const client = cluster.resource(namespaces);
  const ofRound = async () =>
    (await client.list()).items.filter(({ metadata }) => metadata?.name?.endsWith(suffix));
  for (const { metadata } of await ofRound()) await client.delete({ name: metadata?.name ?? '' });
  while ((await ofRound()).length > 0) await sleep(pollMs);
}

function compareRounds(real: Round, ours: Round): readonly string[] {
  return [...real].flatMap(([scenario, outcome]) => {
    const differences = differencesOf(outcome, ours.get(scenario) ?? {});
    return unexpectedLinesEitherWay(scenario, differences).map((line) => `${scenario}: ${line}`);
  });
}
