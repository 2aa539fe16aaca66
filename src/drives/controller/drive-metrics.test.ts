import { expect, test } from 'vitest';
import { drive, gib } from '../../engine/testing/objects.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { meterDrives } from './drive-metrics.ts';

test('the capacity of a filesystem counts once, however many Drives name it', () => {
  const metrics = new Metrics();
  const uuid = 'b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77';
  const on = (filesystemUUID: string) => ({ spec: { nodeName: 'n1', filesystemUUID } });
  meterDrives(metrics, {
    drives: () => [drive('a', 10, on(uuid)), drive('b', 10, on(uuid.toUpperCase()))],
    hasNode: () => true,
  });
  const lines = metrics.render().split('\n');
  expect(lines).toContain(`stowage_drive_capacity_bytes ${gib(10)}`);
  expect(lines).toContain('stowage_drives{state="Error"} 1');
});

test('drives are counted when the metrics are read, by state, and a state without drives is 0', () => {
  const metrics = new Metrics();
  const volumes = [{ name: 'v', sizeBytes: gib(12) }];
  const drives = [
    drive('a', 10),
    drive('b', 10, { spec: { nodeName: 'n1', volumes, unschedulable: true } }),
    drive('c', 10, { state: 'Lost' }),
    { metadata: { name: 'd' } },
  ];
  const stop = meterDrives(metrics, { drives: () => drives, hasNode: () => true });
  const lines = metrics.render().split('\n');
  expect(lines.filter((line) => line.startsWith('stowage_drives'))).toEqual([
    'stowage_drives{state="Error"} 0',
    'stowage_drives{state="Lost"} 1',
    'stowage_drives{state="NodeGone"} 0',
    'stowage_drives{state="Ready"} 2',
    'stowage_drives{state="Removing"} 0',
    'stowage_drives{state="Repairing"} 0',
    'stowage_drives{state="Unknown"} 1',
    'stowage_drives_cordoned 1',
    'stowage_drives_overcommitted 1',
  ]);
  expect(lines).toContain(`stowage_drive_promised_bytes ${gib(12)}`);
  expect(lines).toContain(`stowage_drive_capacity_bytes ${gib(30)}`);
  stop();
  drives.pop();
  expect(metrics.render()).toContain('stowage_drives{state="Unknown"} 1');
});

test('a drive whose Node does not exist is not ready', () => {
  const metrics = new Metrics();
  const drives = [drive('a', 10), drive('b', 10, { node: 'n2' })];
  meterDrives(metrics, { drives: () => drives, hasNode: (name) => name === 'n1' });
  const lines = metrics.render().split('\n');
  expect(lines).toContain('stowage_drives{state="Ready"} 1');
  expect(lines).toContain('stowage_drives{state="NodeGone"} 1');
  expect(lines).toContain('stowage_drive_ready{drive="b",node="n2"} 0');
});

test('each drive has its own figures until it is gone, the first thousand by name', () => {
  const metrics = new Metrics();
  const volumes = [{ name: 'v', sizeBytes: gib(4) }];
  let drives = [
    drive('a', 10, { spec: { nodeName: 'n1', volumes } }),
    drive('b', 10, { node: 'n2', state: 'Lost' }),
  ];
  meterDrives(metrics, { drives: () => drives, hasNode: () => true });
  const own = () =>
    metrics
      .render()
      .split('\n')
      .filter((line) => /^stowage_drive_(ready|volumes)/.test(line));
  expect(own()).toEqual([
    'stowage_drive_ready{drive="a",node="n1"} 1',
    'stowage_drive_ready{drive="b",node="n2"} 0',
    `stowage_drive_volumes_free_bytes{drive="a",node="n1"} ${gib(6)}`,
    `stowage_drive_volumes_free_bytes{drive="b",node="n2"} ${gib(10)}`,
    `stowage_drive_volumes_promised_bytes{drive="a",node="n1"} ${gib(4)}`,
    'stowage_drive_volumes_promised_bytes{drive="b",node="n2"} 0',
  ]);
  drives = drives.slice(1);
  expect(own()).toHaveLength(3);
  drives = Array.from({ length: 1100 }, (_, at) => drive(`d${at}`, 1));
  expect(own()).toHaveLength(3000);
});
