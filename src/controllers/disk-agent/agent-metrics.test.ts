import { expect, test } from 'vitest';
import { Metrics } from '../../runtime/metrics.ts';
import { meterAgent } from './agent-metrics.ts';

test('an agent shows its disks, their bytes and when they were looked at; agents of one process do not mix', () => {
  const metrics = new Metrics();
  const ready = [{ type: 'Ready', status: 'True' }] as const;
  const diskStatus = {
    a: { conditions: ready, storageMaximum: 100, storageAvailable: 60 },
    b: { storageMaximum: 50, storageAvailable: 50 },
  };
  const stop = meterAgent(metrics, {
    nodeName: 'n1',
    node: () => ({ status: { diskStatus } }),
    probeAgeMs: () => 1_500,
  });
  meterAgent(metrics, { nodeName: 'n2', node: () => undefined, probeAgeMs: () => undefined });
  const lines = metrics.render().split('\n');
  expect(lines.filter((line) => line.includes('storage_node="n1"'))).toEqual([
    'stowage_disk_agent_available_bytes{storage_node="n1"} 110',
    'stowage_disk_agent_disks{storage_node="n1",state="not-ready"} 1',
    'stowage_disk_agent_disks{storage_node="n1",state="ready"} 1',
    'stowage_disk_agent_maximum_bytes{storage_node="n1"} 150',
    'stowage_disk_agent_probe_age_seconds{storage_node="n1"} 1.5',
  ]);
  expect(lines).toContain('stowage_disk_agent_disks{storage_node="n2",state="ready"} 0');
  stop();
});
