import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { StorageNode } from '../../../kube/stowage/storage-node.ts';
import { systemIds } from '../../../runtime/ids.ts';
import { DataFolder } from '../files/data-folder.ts';
import { hostFiles } from '../files/host-files.ts';
import type { DiskProbe } from '../files/probe-disk.ts';
import { reportedStatus } from './disk-report.ts';
import { diskUsage } from './disk-usage.ts';

const now = '2026-01-01T00:00:00Z';
const later = '2026-01-01T00:00:30Z';
const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;
const node: StorageNode = { metadata: { name: 'n1', generation: 3 }, spec: { disks: { d: { path: '/d' } } } };

function found(more: Partial<Extract<DiskProbe, { kind: 'found' }>> = {}): DiskProbe {
  return {
    kind: 'found',
    uuid: '11111111-2222-4333-8444-555555555555',
    device: '1',
    totalBytes: 100 * gibibyte,
    freeBytes: 60_000 * mebibyte,
    filesystemType: 'xfs',
    ...more,
  };
}

function report(
  probe: DiskProbe,
  before: StorageNode = node,
  ownBytes = 0,
  orphans: readonly string[] = [],
  at = now,
) {
  const usages = new Map([['d', { ownBytes, orphans }]]);
  return reportedStatus(
    before,
    { probes: new Map([['d', probe]]), usages, upload: undefined, agentLease: undefined, place: undefined },
    at,
  );
}

test.each([
  ['free bytes alone', found(), 0, 60_000 * mebibyte],
  ['and what our files occupy', found(), 20_000 * mebibyte, 80_000 * mebibyte],
  ['rounded down to 100 MiB', found({ freeBytes: 199 * mebibyte }), 0, 100 * mebibyte],
  ['across the two figures', found({ freeBytes: 50 * mebibyte }), 50 * mebibyte, 100 * mebibyte],
  ['to 1 MiB on small disks', found({ totalBytes: gibibyte, freeBytes: 5.5 * mebibyte }), 0, 5 * mebibyte],
  [
    'never more than there is',
    found({ totalBytes: 10 * mebibyte, freeBytes: 9 * mebibyte }),
    9 * mebibyte,
    10 * mebibyte,
  ],
])('what is available: %s', (_name, probe, ownBytes, expected) => {
  expect(report(probe, node, ownBytes).diskStatus?.d?.storageAvailable).toBe(expected);
});

test('equal findings give an equal status', () => {
  const status = report(found());
  expect(report(found(), { ...node, status }, 0, [], later)).toEqual(status);
});

test('a problem keeps UUID and figures, and has its own time', () => {
  const status = report(found());
  const problem: DiskProbe = { kind: 'problem', reason: 'NotAnswering', message: 'no answer' };
  const after = report(problem, { ...node, status }, 0, [], later);
  expect(after.diskStatus?.d).toEqual({
    ...status.diskStatus?.d,
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'NotAnswering',
        message: 'Disk d: no answer',
        lastTransitionTime: later,
      },
    ],
  });
  expect(after.conditions?.[0]).toMatchObject({ status: 'False', reason: 'DisksNotReady' });
});

test('a disk with the UUID of another one reports none', () => {
  const status = report(found());
  const problem: DiskProbe = { kind: 'problem', reason: 'DuplicateUUID', message: 'twice' };
  expect(report(problem, { ...node, status }).diskStatus?.d?.diskUUID).toBeUndefined();
});

test('fields of others stay, and a disk that is not in the spec goes', () => {
  const status = { zone: 'z', diskStatus: { old: { storageMaximum: 1 } } };
  const after = report(found(), { ...node, status });
  expect([after.zone, Object.keys(after.diskStatus ?? {})]).toEqual(['z', ['d']]);
});

test('a Node without labels has no zone', () => {
  const before = { ...node, status: { zone: 'z' } };
  const parts = { probes: new Map(), usages: new Map(), upload: undefined, agentLease: undefined, place: {} };
  expect(reportedStatus(before, parts, now).zone).toBeUndefined();
});

test('orphans are named up to ten, and the condition stays when they are gone', () => {
  const orphans = Array.from({ length: 12 }, (_, at) => `replicas/r${at}`);
  const status = report(found(), node, 0, orphans);
  const message = status.diskStatus?.d?.conditions?.find(({ type }) => type === 'OrphanedData')?.message;
  expect(message).toContain('replicas/r9 and 2 more;');
  const after = report(found(), { ...node, status });
  expect(after.diskStatus?.d?.conditions).toContainEqual(
    expect.objectContaining({ type: 'OrphanedData', status: 'False' }),
  );
});

test('only folders with an owner count as ours', async () => {
  const path = await mkdtemp(join(tmpdir(), 'disk-usage-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const files = hostFiles(systemIds);
  for (const name of ['owned', 'orphan']) {
    const folder = new DataFolder(files, { diskPath: path, kind: 'Replica', name });
    await folder.identify({ name, uid: `uid of ${name}`, volume: 'v' });
    await writeFile(folder.partPath, Buffer.alloc(mebibyte, 1));
    await folder.complete(gibibyte);
  }
  await mkdir(join(path, 'images', 'foreign'), { recursive: true });
  await writeFile(join(path, 'images', 'foreign', 'data.img'), 'x');
  const usage = await diskUsage(
    files,
    { name: 'd', path, uuid: 'u' },
    (_kind, _name, uid) => uid === 'uid of owned',
  );
  expect(usage.orphans).toEqual(['replicas/orphan', 'images/foreign']);
  expect(usage.ownBytes).toBeGreaterThanOrEqual(mebibyte);
  expect(usage.ownBytes).toBeLessThan(2 * mebibyte);
});
