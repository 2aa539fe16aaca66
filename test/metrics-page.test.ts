import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import { newMetrics, publishedMetrics } from '../src/apiserver/server/metrics.ts';
import { controllerNames } from '../src/controllers/controller-names.ts';
import { meterAgent } from '../src/controllers/disk-agent/agent-metrics.ts';
import { runControllers } from '../src/controllers/run-controllers.ts';
import { VirtualTimeCluster } from '../src/controllers/testing/virtual-time-cluster.ts';
import { CallMetrics } from '../src/csi/call-metrics.ts';
import { ServedCallMetrics } from '../src/csi/served-call-metrics.ts';
import { VolumeUsage } from '../src/drives/node/volume-usage.ts';
import { FakeHost } from '../src/drives/testing/fake-host.ts';
import { meteredLeadership } from '../src/reconcile/leases/leadership-metrics.ts';
import { systemIds } from '../src/runtime/ids.ts';
import { type MetricDescription, Metrics } from '../src/runtime/metrics.ts';
import { seededRandom } from '../src/runtime/random.ts';
import { Supervisor } from '../src/runtime/supervisor.ts';
import { projectRoot } from './project-root.ts';

// `npx vitest run metrics-page -u` updates the page.
test('docs/metrics.md lists every served metric', async () => {
  const controllers = await controllerMetrics();
  const server = publishedMetrics(newMetrics()).describe();
  const text = page(controllers, server);
  await expect(text).toMatchFileSnapshot(join(projectRoot, 'docs/metrics.md'));
});

/** Starts all controllers, so that all their metrics exist. */
async function controllerMetrics(): Promise<readonly MetricDescription[]> {
  await using trial = await VirtualTimeCluster.start();
  const { clock, cluster } = trial;
  const random = seededRandom('metrics');
  const metrics = new Metrics();
  // A connection to a CSI driver has it; here is none.
  new CallMetrics(metrics);
  // Only processes with leader election, `stowage csi` and disk agents have these.
  meteredLeadership(metrics, 'scheduler');
  new ServedCallMetrics(metrics);
  new VolumeUsage({ metrics, host: new FakeHost('/nowhere') });
  meterAgent(metrics, { nodeName: 'n1', node: () => undefined, probeAgeMs: () => undefined })();
  const supervisor = new Supervisor({ clock, random, onCrash: () => {} });
  runControllers({
    names: controllerNames,
    cluster,
    resources: builtInKindCatalog().all.filter(({ storedAs }) => storedAs === undefined),
    clock,
    random,
    supervisor,
    metrics,
    ids: systemIds,
    instance: 'here',
    report: () => {},
    onError: () => {},
  });
  await trial.settle();
  const closed = supervisor.close();
  await trial.settle();
  expect(await closed).toEqual([]);
  return metrics.describe();
}

function page(controllers: readonly MetricDescription[], server: readonly MetricDescription[]): string {
  return [
    '# Metrics',
    '',
    "Prometheus' text format: `stowage up` shows all of them at `/metrics` of its API server (with the token), `stowage run`",
    'those of the controllers at `/metrics` of `--http-address`, and `stowage csi` those of its calls, its node service those of volumes on the drives of its node (two series for each volume, at most 2,000 for each node) and, while its controller service leads, those of drives (three series for each drive, at most 3,000). What to watch for is in [operations](operations.md). This page',
    'is made from the code.',
    '',
    '## Controllers and scheduler',
    '',
    ...rows(controllers),
    '',
    '## API server of `stowage up`',
    '',
    ...rows(server),
    '',
  ].join('\n');
}

function rows(metrics: readonly MetricDescription[]): string[] {
  return [
    '| metric | type | labels | what |',
    '|---|---|---|---|',
    ...metrics.map(
      ({ name, type, labelNames, help }) =>
        `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    ),
  ];
}
