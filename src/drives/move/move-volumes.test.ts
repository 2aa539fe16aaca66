import {
  chmodSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import { realSystemCommands, type SystemCommands } from '../devices/system-commands.ts';
import { VolumeDirectories } from '../host/volume-directories.ts';
import { DrivesFixture } from '../testing/drives-fixture.ts';
import {
  copyTree,
  inProcessCommands,
  inProcessDirectories,
  MoveFaults,
  moveFolder,
  RecordedQuota,
} from '../testing/move-faults.ts';
import { moveObstacle } from './move-obstacle.ts';
import { MoveError, moveVolumes } from './move-volumes.ts';
import { differenceBetween } from './same-tree.ts';

const gib = 2 ** 30;

/** Files, a folder, links, a mode and times. */
function fill(folder: string): void {
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(folder, 'data'), 'content'.repeat(1000));
  writeFileSync(join(folder, 'sub/empty'), '');
  symlinkSync('nowhere', join(folder, 'link'));
  chmodSync(join(folder, 'data'), 0o640);
  for (const path of ['data', 'sub/empty', 'sub', '.']) utimesSync(join(folder, path), 1_000, 2_000);
  lutimesSync(join(folder, 'link'), 1_000, 2_000);
}

/** Two drives of a node, the first with two volumes, of which one has data. */
async function twoDrives(suffix = '', started?: DrivesFixture) {
  const fixture = started ?? (await DrivesFixture.start());
  const root = moveFolder();
  const source = { drive: `a${suffix}`, mount: join(root, 'a') };
  const target = { drive: `b${suffix}`, mount: join(root, 'b') };
  for (const { mount } of [source, target]) mkdirSync(mount);
  const claimRef = { namespace: 'default', name: 'data' };
  const volumes = [
    { name: 'pvc-1', sizeBytes: gib, claimRef },
    { name: 'pvc-2', sizeBytes: gib },
  ];
  await fixture.drive(source.drive, 4 * gib, { spec: { volumes, unschedulable: true } });
  await fixture.drive(target.drive, 4 * gib, { spec: { unschedulable: true } });
  const directories = inProcessDirectories();
  await directories.prepare(source.mount);
  fill(join(source.mount, 'volumes/pvc-1'));
  const reference = join(root, 'reference');
  copyTree(join(source.mount, 'volumes/pvc-1'), reference);
  const quota = new RecordedQuota();
  const options = {
    cluster: fixture.cluster,
    commands: inProcessCommands,
    directories,
    quota,
    compareCopy: differenceBetween,
    onProgress: () => {},
  };
  const names = async (drive: string) =>
    ((await fixture.get(drive)).spec?.volumes ?? []).map(({ name }) => name);
  return { fixture, source, target, options, reference, names };
}

/** The programs of the system, except that nothing is synchronized: other tests write to the same disk. */
const programs: SystemCommands = {
  run: async (program, args) =>
    program === 'sync' ? { status: 0, stdout: '', stderr: '' } : await realSystemCommands.run(program, args),
};

test('volumes are moved with their data and entries', async () => {
  const { fixture, source, target, reference, names, ...own } = await twoDrives();
  const options = { ...own.options, commands: programs, directories: new VolumeDirectories() };
  expect(await moveVolumes(source, target, options)).toEqual(['pvc-1', 'pvc-2']);
  // The directory is limited before it appears under its name.
  expect([...own.options.quota.limits]).toEqual([[join(target.mount, 'deleted/pvc-1'), gib]]);
  expect(await differenceBetween(reference, join(target.mount, 'volumes/pvc-1'))).toBeUndefined();
  expect(existsSync(join(source.mount, 'volumes/pvc-1'))).toBe(false);
  expect([await names('a'), await names('b')]).toEqual([[], ['pvc-1', 'pvc-2']]);
  expect((await fixture.get('b')).spec?.volumes?.[0]).toMatchObject({
    sizeBytes: gib,
    claimRef: { namespace: 'default', name: 'data' },
  });
  expect(await moveVolumes(source, target, options)).toEqual([]);
});

test('only the volumes that are named are moved', async () => {
  const { source, target, options, names } = await twoDrives();
  expect(await moveVolumes(source, target, { ...options, volumes: new Set(['pvc-2']) })).toEqual(['pvc-2']);
  expect([await names('a'), await names('b')]).toEqual([['pvc-1'], ['pvc-2']]);
  expect(existsSync(join(source.mount, 'volumes/pvc-1/data'))).toBe(true);
});

test('only the volumes that are named need room, and they must be on one of the drives', () => {
  const drive = (name: string, sizes: Readonly<Record<string, number>>): Drive => ({
    metadata: { name },
    spec: {
      nodeName: 'n1',
      unschedulable: true,
      volumes: Object.entries(sizes).map(([volume, sizeBytes]) => ({ name: volume, sizeBytes })),
    },
    status: { state: 'Ready', capacityBytes: 100 },
  });
  const [from, to] = [drive('a', { large: 90, small: 10 }), drive('b', { other: 80 })];
  expect(moveObstacle(from, to)).toContain('need 100 bytes, and drive b has 20 free');
  expect(moveObstacle(from, to, new Set(['small', 'other']))).toBeUndefined();
  expect(moveObstacle(from, to, new Set(['gone']))).toContain(
    'volume gone is on neither of the drives a and b',
  );
});

test.each(['crash', 'lost answer', 'failure'] as const)(
  'after a %s at any call, all data is on a drive that has the entry, and the next call goes on',
  async (kind) => {
    const fixture = await DrivesFixture.start();
    for (let at = 1, hasHappened = true; hasHappened; at += 1) {
      const drives = await twoDrives(`-${at}`, fixture);
      const { source, target, options, reference, names } = drives;
      const hasAll = async ({ drive, mount }: typeof source) => {
        const path = join(mount, 'volumes/pvc-1');
        if (!(await names(drive)).includes('pvc-1') || !existsSync(path)) return false;
        return (await differenceBetween(reference, path)) === undefined;
      };
      const faults = new MoveFaults(kind, at);
      // No byte of the source is released before the target has an equal copy and the only entry.
      const onChange = async (method: string, [mount, volume]: readonly unknown[]) => {
        if (!['retire', 'remove'].includes(method) || mount !== source.mount || volume !== 'pvc-1') return;
        expect([at, await hasAll(target)]).toEqual([at, true]);
        if (method === 'remove')
          expect([at, await names(source.drive)]).toEqual([at, expect.not.arrayContaining(['pvc-1'])]);
      };
      await moveVolumes(source, target, {
        ...options,
        cluster: faults.cluster(options.cluster),
        commands: faults.commands(options.commands),
        directories: faults.methods(options.directories, onChange),
        quota: faults.methods(options.quota, async () => {}),
        compareCopy: (from, copy) => faults.call(false, () => options.compareCopy(from, copy)),
      }).catch((error: unknown) => expect(String(error)).toMatch(/^Error: (ended|failed)$/));
      hasHappened = faults.hasHappened;
      expect([at, (await hasAll(source)) || (await hasAll(target))]).toEqual([at, true]);
      await moveVolumes(source, target, options);
      expect([at, await hasAll(target)]).toEqual([at, true]);
      expect([await names(source.drive), (await names(target.drive)).toSorted()]).toEqual([
        [],
        ['pvc-1', 'pvc-2'],
      ]);
      // Nothing is left: no data, no remains, no limit.
      for (const { mount } of [source, target])
        expect([at, await options.directories.remains(mount)]).toEqual([at, []]);
      expect([at, await options.directories.names(source.mount)]).toEqual([at, []]);
      expect([at, [...options.quota.limits.keys()].filter((path) => path.startsWith(source.mount))]).toEqual([
        at,
        [],
      ]);
      if (!hasHappened) expect(at).toBeGreaterThan(13);
    }
  },
);

test('a volume that a pod has changed on the target, before a call that was interrupted is repeated, is moved', async () => {
  const { source, target, options, reference, names } = await twoDrives();
  // It ends as soon as the source has lost the entry.
  const cluster = new InterceptedCluster(options.cluster, {
    after: async () => {
      if (!(await names('a')).includes('pvc-1')) throw new Error('ended');
    },
  });
  await expect(moveVolumes(source, target, { ...options, cluster })).rejects.toThrow('ended');
  expect([await names('a'), await names('b')]).toEqual([['pvc-2'], ['pvc-1']]);
  writeFileSync(join(target.mount, 'volumes/pvc-1/data'), 'new');
  expect(await moveVolumes(source, target, options)).toEqual(['pvc-2', 'pvc-1']);
  expect(readFileSync(join(target.mount, 'volumes/pvc-1/data'), 'utf8')).toBe('new');
  expect(await options.directories.isEmpty(source.mount)).toBe(true);
  expect(existsSync(reference)).toBe(true);
});

test('a volume stays where it is if the target gets too full during the copy', async () => {
  const { fixture, source, target, options, names } = await twoDrives();
  const commands: SystemCommands = {
    run: async (program, args) => {
      if (program === 'cp')
        await fixture.merge('b', { spec: { volumes: [{ name: 'grown', sizeBytes: 3.5 * gib }] } });
      return await inProcessCommands.run(program, args);
    },
  };
  await expect(moveVolumes(source, target, { ...options, commands })).rejects.toThrow(
    'drive b has too few free bytes by now for volume pvc-1, which stays where it is; name another drive',
  );
  expect([await names('a'), await names('b')]).toEqual([['pvc-1', 'pvc-2'], ['grown']]);
  expect(existsSync(join(source.mount, 'volumes/pvc-1/data'))).toBe(true);
  expect(await options.directories.isEmpty(target.mount)).toBe(true);
});

test('a copy that cannot be completed does not keep the bytes', async () => {
  const { source, target, options } = await twoDrives();
  const commands: SystemCommands = {
    run: async (program, args) => {
      await inProcessCommands.run(program, args);
      return program === 'cp'
        ? { status: 1, stdout: '', stderr: 'cp: no space' }
        : { status: 0, stdout: '', stderr: '' };
    },
  };
  await expect(moveVolumes(source, target, { ...options, commands })).rejects.toThrow('no space');
  expect(await options.directories.isEmpty(target.mount)).toBe(true);
});

test('a copy that differs is not used, and nothing is removed', async () => {
  const { source, target, options, names } = await twoDrives();
  const commands: SystemCommands = {
    run: async (program, args) => {
      const outcome = await inProcessCommands.run(program, args);
      if (program === 'cp') writeFileSync(join(args.at(-1)!, 'data'), 'changed');
      return outcome;
    },
  };
  await expect(moveVolumes(source, target, { ...options, commands })).rejects.toThrow(MoveError);
  expect(readFileSync(join(source.mount, 'volumes/pvc-1/data'), 'utf8')).toContain('content');
  expect([await names('a'), await names('b')]).toEqual([['pvc-1', 'pvc-2'], []]);
});

test('data on both drives that differs is left to a person', async () => {
  const { fixture, source, target, options, names } = await twoDrives();
  await options.directories.prepare(target.mount);
  mkdirSync(join(target.mount, 'volumes/pvc-1'));
  await fixture.merge('b', { spec: { volumes: [{ name: 'pvc-1', sizeBytes: gib }] } });
  await expect(moveVolumes(source, target, options)).rejects.toThrow(
    'has different data on the drives a and b; nothing was removed',
  );
  expect(existsSync(join(source.mount, 'volumes/pvc-1/data'))).toBe(true);
  expect(existsSync(join(target.mount, 'volumes/pvc-1'))).toBe(true);
  // The same where only the target has the entry.
  await fixture.merge('a', { spec: { volumes: [] } });
  await expect(moveVolumes(source, target, options)).rejects.toThrow('nothing was removed');
  expect(existsSync(join(source.mount, 'volumes/pvc-1/data'))).toBe(true);
  expect(await names('b')).toEqual(['pvc-1']);
});

test('a volume that is deleted while it is copied keeps its entry and its data', async () => {
  const { fixture, source, target, options, names } = await twoDrives();
  const commands: SystemCommands = {
    run: async (program, args) => {
      if (program === 'cp') {
        const { spec } = await fixture.get('a');
        const volumes = spec!.volumes!.map((one) =>
          one.name === 'pvc-1' ? { ...one, state: 'Releasing' } : one,
        );
        await fixture.merge('a', { spec: { volumes } });
      }
      return await inProcessCommands.run(program, args);
    },
  };
  await expect(moveVolumes(source, target, { ...options, commands })).rejects.toThrow(
    'was changed meanwhile',
  );
  expect(await names('a')).toContain('pvc-1');
  expect(existsSync(join(source.mount, 'volumes/pvc-1/data'))).toBe(true);
});

test('trees are compared by names, types, modes, times, links and contents', async () => {
  const root = moveFolder();
  const changes: readonly (readonly [string, (folder: string) => void])[] = [
    ['content', (folder) => writeFileSync(join(folder, 'data'), 'Content'.repeat(1000))],
    ['size', (folder) => writeFileSync(join(folder, 'data'), '')],
    ['mode', (folder) => chmodSync(join(folder, 'data'), 0o600)],
    ['time', (folder) => utimesSync(join(folder, 'data'), 1_000, 3_000)],
    ['another file', (folder) => writeFileSync(join(folder, 'sub/more'), '')],
    ['a missing file', (folder) => rmSync(join(folder, 'sub/empty'))],
    [
      'another link',
      (folder) => {
        rmSync(join(folder, 'link'));
        symlinkSync('dat0', join(folder, 'link'));
      },
    ],
  ];
  fill(join(root, 'original'));
  for (const [name, change] of changes) {
    const copy = join(root, name);
    copyTree(join(root, 'original'), copy);
    expect([name, await differenceBetween(join(root, 'original'), copy)]).toEqual([name, undefined]);
    change(copy);
    expect([name, typeof (await differenceBetween(join(root, 'original'), copy))]).toEqual([name, 'string']);
  }
});

test.each<[string, Partial<Drive>, Partial<Drive>, string | undefined]>([
  ['nothing', {}, {}, undefined],
  ['an interrupted move', { status: { state: 'Repairing' } }, {}, undefined],
  [
    'a target that is repaired',
    {},
    { status: { state: 'Repairing' } },
    'drive b is Repairing; it must be Ready',
  ],
  ['the same drive', {}, { metadata: { name: 'a' } }, 'both source and target'],
  [
    'another Drive of the same filesystem',
    { spec: { filesystemUUID: 'b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77' } },
    { spec: { filesystemUUID: 'B7F6C1DE-4A2E-4C6F-9D0B-5D8F3A1C2E77' } },
    'name the same filesystem',
  ],
  ['another node', {}, { spec: { nodeName: 'n2' } }, 'pinned to their node'],
  ['a source that takes volumes', { spec: { unschedulable: false } }, {}, 'drive a is not cordoned'],
  ['a target that takes volumes', {}, { spec: { unschedulable: false } }, 'drive b is not cordoned'],
  ['a lost target', {}, { status: { state: 'Lost' } }, 'drive b is Lost; it must be Ready'],
  ['a full target', {}, { status: { capacityBytes: 9 } }, 'need 10 bytes, and drive b has 9 free'],
  [
    'a volume that goes',
    { spec: { volumes: [{ name: 'v', sizeBytes: 1, state: 'Releasing' }] } },
    {},
    'is being deleted',
  ],
  [
    'an inline volume',
    { spec: { volumes: [{ name: 'v', sizeBytes: 1, podRef: { namespace: 'x', name: 'p' } }] } },
    {},
    'inline volume v of pod x/p',
  ],
])('%s prevents a move', (_, source, target, expected) => {
  const drive = (
    name: string,
    change: Partial<Drive>,
    volumes: readonly { name: string; sizeBytes: number }[],
  ): Drive => ({
    metadata: { name, ...change.metadata },
    spec: { nodeName: 'n1', unschedulable: true, volumes, ...change.spec },
    status: { state: 'Ready', capacityBytes: 100, ...change.status },
  });
  const obstacle = moveObstacle(drive('a', source, [{ name: 'v', sizeBytes: 10 }]), drive('b', target, []));
  if (expected === undefined) expect(obstacle).toBeUndefined();
  else expect(obstacle).toContain(expected);
});
