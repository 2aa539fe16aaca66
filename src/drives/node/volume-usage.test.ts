import { expect, test } from 'vitest';
import { unenforcedQuota } from '../host/project-quota.ts';
import { NodeFixture } from '../testing/node-fixture.ts';

const mib = 2 ** 20;

function volumeSeries({ metrics }: NodeFixture): readonly string[] {
  const lines = metrics.render().split('\n');
  return lines.filter((line) => line.startsWith('stowage_drive_volume_'));
}

const labels = 'volume="pvc-1",drive="n1-a",namespace="shop",claim="data"';
const total = `stowage_drive_volume_total_bytes{${labels}} ${100 * mib}`;

async function startWithVolume(): Promise<NodeFixture> {
  const node = await NodeFixture.start();
  await node.addVolume('pvc-1', 100 * mib, 'n1-a', { claimRef: { namespace: 'shop', name: 'data' } });
  return node;
}

test('a volume has its size, and what its files take once it has been staged; a deleted one has no series', async () => {
  const node = await startWithVolume();
  await node.until(() => volumeSeries(node).length > 0);
  expect(volumeSeries(node)).toEqual([total]);
  await node.stage('pvc-1');
  node.host.used.set('pvc-1', 7 * mib);
  await node.until(() => volumeSeries(node).length === 2);
  expect(volumeSeries(node)).toEqual([total, `stowage_drive_volume_used_bytes{${labels}} ${7 * mib}`]);
  await node.unstage('pvc-1');
  await node.releaseVolume('pvc-1');
  await node.until(() => volumeSeries(node).length === 0);
});

test('what a volume takes is not known without quota, or while its drive is lost', async () => {
  const node = await startWithVolume();
  await node.stage('pvc-1');
  await node.until(() => volumeSeries(node).length === 2);
  node.host.disconnect('/dev/n1-a');
  await node.until(() => volumeSeries(node).length === 1);
  expect(volumeSeries(node)).toEqual([total]);
  const other = await startWithVolume();
  other.host.quota = unenforcedQuota;
  await other.reboot();
  await other.stage('pvc-1');
  await other.fixture.clock.advance(60_000);
  expect(volumeSeries(other)).toEqual([total]);
});

test('a Drive that is deleted leaves no series, and a node has at most two thousand', async () => {
  const node = await NodeFixture.start({ 'n1-a': 2048 * mib, 'n1-b': 2048 * mib });
  const volumes = (from: number) =>
    Array.from({ length: 700 }, (_, at) => ({ name: `pvc-${from + at}`, sizeBytes: 1 }));
  await node.fixture.merge('n1-a', { spec: { volumes: volumes(0) } });
  await node.fixture.merge('n1-b', { spec: { volumes: volumes(1000) } });
  await node.until(() => volumeSeries(node).length === 1000);
  await node.fixture.merge('n1-a', { spec: { volumes: [] } });
  await node.fixture.delete('n1-a');
  await node.until(() => volumeSeries(node).length === 700);
  expect(volumeSeries(node).every((line) => line.includes('drive="n1-b"'))).toBe(true);
});
