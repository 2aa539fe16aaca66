import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { controllerRevisions, podDisruptionBudgets, pods } from '../../kube/resources.ts';
import { RealTimeCluster } from '../testing/real-time-cluster.ts';
import { deploymentController } from './deployment/deployment-controller.ts';
import {
  changeDeployment,
  deploymentTemplate,
  getDeployment,
  isRolledOut,
  makeDeployment,
  sizes,
} from './deployment/testing/deployments.ts';
import { disruptionController } from './disruption/disruption-controller.ts';
import { statefulSetController } from './stateful-set/stateful-set-controller.ts';
import { changeSet, claimLines, dataTemplate, getSet, makeSet } from './stateful-set/testing/sets.ts';
import { eventually, healthyNodes, namespace, podsOf, runControllersOn } from './testing/workload-fixture.ts';

const controllers = [statefulSetController, deploymentController, disruptionController];

interface Scenario {
  readonly name: string;
  /** The work of controllers before the crash. */
  readonly before: (cluster: Cluster) => Promise<void>;
  readonly change: (cluster: Cluster) => Promise<void>;
  readonly end: readonly string[];
  /** Pods that are created on the way from `before` to `end`, no more and no less. */
  readonly podsMade: number;
}

const selector = { matchLabels: { app: 'web' } };
const deploymentLabels = { matchLabels: { app: 'front' } };
const frontTemplate = (image: string) => ({
  ...deploymentTemplate(image),
  metadata: { labels: { app: 'front' } },
});

async function makeAll(cluster: Cluster): Promise<void> {
  await makeSet(cluster, { replicas: 2, volumeClaimTemplates: [dataTemplate] });
  await makeDeployment(cluster, { replicas: 2, selector: deploymentLabels, template: frontTemplate('v1') });
  await cluster
    .resource(podDisruptionBudgets)
    .create({ metadata: { namespace, name: 'web' }, spec: { selector, maxUnavailable: 1 } });
}

const scenarios: readonly Scenario[] = [
  {
    name: 'being created',
    before: async () => {},
    change: makeAll,
    end: [
      'budget: 1 of 2 may be evicted',
      'claims: data-web-0, data-web-1',
      'pods: Deployment v1, Deployment v1, web-0 v1, web-1 v1',
      'replica sets: v1: 2 of 2',
      'revisions: 1',
    ],
    podsMade: 4,
  },
  {
    name: 'being updated',
    before: makeAll,
    change: async (cluster) => {
      await changeSet(cluster, { template: deploymentTemplate('v2') });
      await changeDeployment(cluster, { template: frontTemplate('v2') });
    },
    end: [
      'budget: 1 of 2 may be evicted',
      'claims: data-web-0, data-web-1',
      'pods: Deployment v2, Deployment v2, web-0 v2, web-1 v2',
      'replica sets: v2: 2 of 2',
      'revisions: 2',
    ],
    podsMade: 4,
  },
  {
    name: 'being scaled down',
    before: makeAll,
    change: async (cluster) => {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Retain', whenScaled: 'Delete' } as const;
      await changeSet(cluster, { replicas: 1, persistentVolumeClaimRetentionPolicy });
      await changeDeployment(cluster, { replicas: 1 });
    },
    end: [
      'budget: 1 of 1 may be evicted',
      'claims: data-web-0, data-web-1 of Pod web-1',
      'pods: Deployment v1, web-0 v1',
      'replica sets: v1: 1 of 1',
      'revisions: 1',
    ],
    podsMade: 0,
  },
];

async function inventory(cluster: Cluster): Promise<readonly string[]> {
  const lines = (await podsOf(cluster)).map(({ metadata, spec }) => {
    const isMember = metadata?.labels?.app === 'web';
    return `${isMember ? metadata?.name : 'Deployment'} ${spec?.containers?.[0]?.image}`;
  });
  const { items } = await cluster.resource(controllerRevisions).list({ namespace });
  const budgets = await cluster.resource(podDisruptionBudgets).list({ namespace });
  const { disruptionsAllowed, expectedPods } = budgets.items[0]?.status ?? {};
  return [
    `budget: ${disruptionsAllowed} of ${expectedPods} may be evicted`,
    `claims: ${(await claimLines(cluster)).join(', ')}`,
    `pods: ${lines.toSorted().join(', ')}`,
    `replica sets: ${(await sizes(cluster)).join(', ')}`,
    `revisions: ${items.length}`,
  ];
}

/** All objects have their final state, and their status reports it. */
async function isSettled(cluster: Cluster, end: readonly string[]): Promise<boolean> {
  if (String(await inventory(cluster)) !== String(end)) return false;
  const { metadata, spec, status } = await getSet(cluster);
  const isSetDone =
    status?.observedGeneration === metadata?.generation &&
    status?.readyReplicas === spec?.replicas &&
    status?.updatedReplicas === spec?.replicas &&
    status?.currentRevision === status?.updateRevision;
  return isSetDone && isRolledOut(await getDeployment(cluster));
}

/** Runs the controllers until so many writes are done, then again; returns whether they were interrupted. */
async function interruptAfter(writesMax: number, scenario: Scenario): Promise<boolean> {
  await using fixture = await RealTimeCluster.start();
  const { cluster } = fixture;
  await using _nodes = runControllersOn(cluster, [healthyNodes(cluster)]);
  await prepare(cluster, scenario);
  await scenario.change(cluster);
  const made = countMade(cluster);
  const crash = new CrashAfterWrites(writesMax);
  const crashing = new InterceptedCluster(cluster, crash);
  let isBroken = false;
  void crash.crashed.then(() => {
    isBroken = true;
  });
  {
    await using _first = runControllersOn(crashing, controllers);
    const isOver = await eventually(
      async () => ((await isSettled(cluster, scenario.end)) ? 'settled' : isBroken ? 'broken' : undefined),
      (seen) => seen !== undefined,
    );
    if (isOver === 'settled') return false;
  }
  await using _second = runControllersOn(cluster, controllers);
  await eventually(
    async () => ((await isSettled(cluster, scenario.end)) ? scenario.end : await inventory(cluster)),
    (seen) => seen === scenario.end,
  );
  expect(await made()).toBe(scenario.podsMade);
  return true;
}

/** Prepares the state in which the scenario starts. */
async function prepare(cluster: Cluster, { before }: Scenario): Promise<void> {
  await before(cluster);
  if (before !== makeAll) return;
  await using _undisturbed = runControllersOn(cluster, controllers);
  await eventually(() => isSettled(cluster, scenarios[0]?.end ?? []), Boolean);
}

/** Counts the pods that are created from now on. */
function countMade(cluster: Cluster): () => Promise<number> {
  const abort = new AbortController();
  const seen = new Set<string>();
  let start = new Set<string>();
  const ended = (async () => {
    const { items, metadata } = await cluster.resource(pods).list({ namespace });
    start = new Set(items.map((pod) => pod.metadata?.uid ?? ''));
    const { resourceVersion } = metadata;
    for await (const event of cluster
      .resource(pods)
      .watch({ namespace, resourceVersion, signal: abort.signal }))
      if (event.type === 'ADDED') seen.add(event.object.metadata?.uid ?? '');
  })();
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await ended;
    return [...seen].filter((uid) => !start.has(uid)).length;
  };
}

test.each(scenarios)(
  'workloads $name reach the same state, and each pod is created once, after a crash behind any write',
  async (scenario) => {
    let writes = 1;
    while (await interruptAfter(writes, scenario)) writes += 1;
    expect(writes).toBeGreaterThan(5);
  },
  120_000,
);

test.each(scenarios)(
  'two sets of controllers at once bring workloads $name to the same state',
  async (scenario) => {
    await using fixture = await RealTimeCluster.start();
    const { cluster } = fixture;
    await using _nodes = runControllersOn(cluster, [healthyNodes(cluster)]);
    await prepare(cluster, scenario);
    await scenario.change(cluster);
    const made = countMade(cluster);
    await using _one = runControllersOn(cluster, controllers);
    await using _other = runControllersOn(cluster, controllers);
    await eventually(() => isSettled(cluster, scenario.end), Boolean);
    expect(await made()).toBe(scenario.podsMade);
  },
);
