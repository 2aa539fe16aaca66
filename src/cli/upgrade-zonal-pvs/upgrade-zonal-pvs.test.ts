import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { failWith, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { VirtualTimeCluster } from '../../controllers/testing/virtual-time-cluster.ts';
import { forbidden } from '../../kube/api-error.ts';
import { nodes, persistentVolumes, pods } from '../../kube/resources.ts';
import { labels } from '../../kube/well-known.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { type Outcome, zonalReport } from './render.ts';
import { upgradeAll, upgradeZonalPvs } from './run.ts';

const { signal } = new AbortController();
const spec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/a' },
} as const;

async function fill(cluster: Cluster): Promise<void> {
  const client = cluster.resource(persistentVolumes);
  const claimRef = { namespace: 'default', name: 'data' };
  await cluster.resource(nodes).create({ metadata: { name: 'n1', labels: { [labels.zone]: 'a' } } });
  await client.create({ metadata: { name: 'plain' }, spec });
  await client.create({ metadata: { name: 'zonal', labels: { [labels.betaZone]: 'a__b' } }, spec });
  await client.create({
    metadata: { name: 'used', labels: { [labels.zone]: 'b' } },
    spec: { ...spec, claimRef },
  });
  await cluster.resource(pods).create({
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
}

function dryReport(outcomes: readonly Outcome[], format: OutputFormat, terminal: Terminal = plainTerminal) {
  return zonalReport(outcomes, { isDryRun: true, format, terminal });
}

test('a dry run lists what would be done, and writes nothing', async () => {
  await using trial = await VirtualTimeCluster.start();
  await fill(trial.cluster);
  const before = await trial.cluster.resource(persistentVolumes).list();
  const text = dryReport(await upgradeAll(trial.cluster, { isDryRun: true, signal }), 'table');
  expect(text.split('\n')).toEqual([
    'NAME    ACTION          DETAIL',
    'used    refused         pod default/web uses it on node n1, which has topology.kubernetes.io/zone=a; a node affinity cannot be changed later, so correct the labels of the node or the volume, or delete the pod first',
    'zonal   would upgrade   topology.kubernetes.io/zone in (a, b)',
    '',
    '3 volumes: 1 would be upgraded, 1 is refused, 1 has no zone or region label. Nothing was written; --dry-run=false writes.',
    '',
  ]);
  expect((await trial.cluster.resource(persistentVolumes).list()).items).toEqual(before.items);
});

test('on a narrow terminal each volume is a paragraph, and nothing is truncated', () => {
  const outcome = (name: string, message: string): Outcome => ({ name, upgrade: { kind: 'fail', message } });
  const outcomes = [outcome('pv-1', 'the first reason is a long one'), outcome('pv-2', 'no')];
  const narrow = dryReport(outcomes, 'table', { ...plainTerminal, width: 30 });
  expect(narrow.split('\n')).toEqual([
    'pv-1: failed: the first reason',
    '  is a long one',
    'pv-2: failed: no',
    '',
    '2 volumes: 2 failed.',
    '',
  ]);
  const roomy = dryReport(outcomes, 'table', { ...plainTerminal, width: 80 });
  expect(roomy).toBe(dryReport(outcomes, 'table'));
});

test('the second run finds nothing left to do', async () => {
  await using trial = await VirtualTimeCluster.start();
  await fill(trial.cluster);
  const kindOf = async () =>
    (await upgradeAll(trial.cluster, { isDryRun: false, signal })).map(
      ({ name, upgrade }) => `${name} ${upgrade.kind}`,
    );
  expect(await kindOf()).toEqual(['plain leave', 'used refuse', 'zonal upgrade']);
  expect(await kindOf()).toEqual(['plain leave', 'used refuse', 'zonal leave']);
});

test('what would be done is there for programs, and for people who want all of it', async () => {
  await using trial = await VirtualTimeCluster.start();
  await fill(trial.cluster);
  const outcomes = await upgradeAll(trial.cluster, { isDryRun: true, signal });
  expect(dryReport(outcomes, 'name')).toBe('persistentvolume/zonal\n');
  expect(dryReport(outcomes, 'wide')).toContain('plain   left alone      it has no zone or region label\n');
  expect(JSON.parse(dryReport(outcomes, 'json'))).toMatchObject({
    apiVersion: 'stowage.dev/zonalupgrade/v1',
    kind: 'ZonalUpgradeReport',
    dryRun: true,
    volumes: [
      { name: 'plain', action: 'leave', detail: 'it has no zone or region label' },
      { name: 'used', action: 'refuse' },
      { name: 'zonal', action: 'upgrade', nodeAffinity: { required: { nodeSelectorTerms: [{}] } } },
    ],
  });
});

test('a failure is reported and does not stop the others', async () => {
  await using trial = await VirtualTimeCluster.start();
  await fill(trial.cluster);
  const client = trial.cluster.resource(persistentVolumes);
  await client.create({ metadata: { name: 'another', labels: { [labels.zone]: 'a' } }, spec });
  const isAffected = ({ verb, name }: ClusterCall) => verb === 'patch' && name === 'another';
  const error = forbidden(persistentVolumes, 'another', 'no');
  const refusing = new InterceptedCluster(trial.cluster, onlyFor(isAffected, { before: failWith(error) }));
  const outcomes = await upgradeAll(refusing, { isDryRun: false, signal });
  const options = { isDryRun: false, format: 'table', terminal: plainTerminal } as const;
  const [, first, , last, , summary] = zonalReport(outcomes, options).split('\n');
  expect(first).toBe('another   failed     persistentvolumes "another" is forbidden: no');
  expect(last).toBe('zonal     upgraded   topology.kubernetes.io/zone in (a, b)');
  expect(summary).toBe('4 volumes: 1 was upgraded, 1 is refused, 1 failed, 1 has no zone or region label.');
});

test('a flag that is neither true nor false is refused', async () => {
  await expect(upgradeZonalPvs({ dryRun: 'perhaps', output: 'table' })).rejects.toThrow(
    '--dry-run: "perhaps" must be true or false',
  );
});
