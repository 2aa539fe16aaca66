import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { quotaSupport, XfsProjectQuota } from './xfs-quota.ts';

/** xfs_io and xfs_quota for directories whose projects are in a map. */
function programs(projects: Map<string, number>) {
  const calls: string[] = [];
  const run = async (file: string, args: readonly string[]): Promise<string> => {
    const path = (file === 'find' ? args[0] : args.at(-1)) ?? '';
    const commands = args.filter((_, at) => args[at - 1] === '-c');
    calls.push([file, ...commands, path].join(' | '));
    if (commands[0] === 'lsproj') return `projid = ${projects.get(path) ?? 0}\n`;
    if (commands[0]?.startsWith('report'))
      return [...projects.values()].map((id) => `#${id}     8   0   1024 00 [--------]\n`).join('');
    const [, id] = /^chproj (\d+)$/.exec(commands[0] ?? '') ?? [];
    if (id !== undefined) projects.set(path, Number(id));
    return '';
  };
  return { calls, quota: new XfsProjectQuota(run) };
}

const directory = { mount: '/drives/u', path: '/drives/u/volumes/pvc; rm', volume: 'pvc; rm' };

test('a directory gets a project of its own, and keeps it', async () => {
  const projects = new Map<string, number>();
  const { calls, quota } = programs(projects);
  await quota.limit(directory, 1000);
  const id = projects.get(directory.path) ?? 0;
  expect(id).toBeGreaterThan(0);
  expect(id).toBeLessThan(2 ** 31);
  await quota.limit(directory, 2000);
  await quota.lift(directory);
  expect(calls).toEqual([
    `xfs_io | lsproj | ${directory.path}`,
    `xfs_quota | report -p -n -N -b -i | ${directory.mount}`,
    `find | chproj ${id} | chattr +P | ${directory.path}`,
    `xfs_quota | limit -p bhard=1000 ${id} | ${directory.mount}`,
    `xfs_io | lsproj | ${directory.path}`,
    `xfs_quota | limit -p bhard=2000 ${id} | ${directory.mount}`,
    `xfs_io | lsproj | ${directory.path}`,
    `xfs_quota | limit -p bhard=0 ${id} | ${directory.mount}`,
  ]);
});

test('a project that another directory has is not taken', async () => {
  const projects = new Map<string, number>();
  await programs(projects).quota.limit(directory, 1000);
  const taken = new Map([['/drives/u/volumes/other', projects.get(directory.path) ?? 0]]);
  await programs(taken).quota.limit(directory, 1000);
  expect(new Set(taken.values()).size).toBe(2);
});

test('a directory without project has no limit to lift', async () => {
  const { calls, quota } = programs(new Map());
  await quota.lift(directory);
  expect(calls).toHaveLength(1);
});

test('the kernel says whether it has quota', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'));
  onTestFinished(() => rmSync(proc, { recursive: true }));
  expect(await quotaSupport(proc)).toBe('unknown');
  mkdirSync(join(proc, 'fs/xfs'), { recursive: true });
  writeFileSync(join(proc, 'fs/xfs/stat'), '');
  expect(await quotaSupport(proc)).toBe('no');
  writeFileSync(join(proc, 'fs/xfs/xqmstat'), '');
  expect(await quotaSupport(proc)).toBe('yes');
});
