import { expect, test } from 'vitest';
import { ClusterIndex } from '../cluster-index.ts';

const driver = 'disk.example.com';
const failure = { claimKey: 'default/data', claimUid: 'u1', nowMs: 0 };

function publish(index: ClusterIndex, version: string, capacities: Readonly<Record<string, string>>): void {
  const pools = Object.entries(capacities).map(([name, capacity]) => ({ name, capacity, nodeList: [name] }));
  index.upsert('DriverCapacity', {
    metadata: { name: driver, resourceVersion: version },
    spec: { capacityTracking: true },
    status: { storage: [{ storageClassName: 'fast', pools }] },
  });
}

test('a node is avoided until its own pool publishes new capacity reports, also if one DriverCapacity has all pools', () => {
  const index = new ClusterIndex();
  publish(index, '1', { n1: '10Gi', n2: '10Gi' });
  for (const nodeName of ['n1', 'n2'])
    index.provisioningFailures.record({
      ...failure,
      nodeName,
      poolKey: `DriverCapacity ${driver} fast ${nodeName}`,
    });
  const avoided = () =>
    [...index.provisioningFailures.avoidedNodes('default/data', 'u1', 1)].map(([node]) => node);
  expect(avoided()).toEqual(['n1', 'n2']);
  publish(index, '2', { n1: '20Gi', n2: '10Gi' });
  expect(avoided()).toEqual(['n2']);
});
