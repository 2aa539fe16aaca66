import { execFileSync } from 'node:child_process';
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Runs in the kernel with XFS quota: uses a drive as the node service does, with our own host code, and prints what it saw as JSON.
 *
 *   node quota-guest.mjs FOLDER     the folder of the compiled src/drives/host
 */

const [, , code] = process.argv;
const load = (file) => import(pathToFileURL(join(code, file)).href);
const { LinuxHost } = await load('linux-host.js');
const { XfsProjectQuota, quotaSupport } = await load('xfs-quota.js');

const mebibyte = 1024 * 1024;
const uuid = 'b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77';
const mount = '/mnt/drive';
const host = new LinuxHost(new XfsProjectQuota());
const seen = {};

const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

/** Writes so many MiB; returns how many were written, and the code of the error that ended it. */
function fill(path, count) {
  const file = openSync(path, 'a');
  const bytes = Buffer.alloc(mebibyte, 'x');
  try {
    for (let written = 0; written < count; written += 1) {
      const error = failureOf(() => {
        if (writeSync(file, bytes) < mebibyte) writeSync(file, bytes);
      });
      if (error !== undefined) return { written, error };
    }
    return { written: count };
  } finally {
    closeSync(file);
  }
}

function failureOf(action) {
  try {
    action();
    return undefined;
  } catch (error) {
    return error.code ?? error.message;
  }
}

async function create(volume, bytes) {
  const path = await host.directories.begin(mount, volume);
  await host.quota.limit({ mount, path, volume }, bytes);
  return await host.directories.finish(mount, volume);
}

async function mountDrive() {
  const [device] = await host.devicesWith(uuid);
  await host.mountFilesystem(device, mount);
  await host.directories.prepare(mount);
  return device;
}

const projectOf = (path) => Number(/projid = (\d+)/.exec(run('xfs_io', '-r', '-c', 'lsproj', path))[1]);
const limitOf = async (path) => (await host.usage(path)).totalBytes / mebibyte;

run('mkfs.xfs', '-q', '-m', `uuid=${uuid}`, '/dev/ubdb');
mkdirSync(mount);
seen.device = (await mountDrive()).path;
seen.support = await quotaSupport();
seen.options = (await host.mounts()).at(mount)?.filesystemOptions;

const a = await create('a', 20 * mebibyte);
const b = await create('b', 20 * mebibyte);
seen.projects = [projectOf(a), projectOf(b)];
seen.full = fill(join(a, 'file'), 40);
seen.preallocated = failureOf(() => run('fallocate', '-l', '100M', join(b, 'preallocated')));
seen.other = fill(join(b, 'file'), 10);
seen.usage = await host.usage(b);
seen.link = failureOf(() => linkSync(join(b, 'file'), join(a, 'stolen')));

await host.quota.limit({ mount, path: a, volume: 'a' }, 60 * mebibyte);
seen.expanded = { limit: await limitOf(a), ...fill(join(a, 'file'), 20), project: projectOf(a) };

// As a pod sees it, before and after a reboot.
const target = '/mnt/pod';
mkdirSync(target);
await host.bind(a, target);
seen.bound = { limit: await limitOf(target), ...fill(join(target, 'more'), 40) };
await host.restrict(target, ['ro']);
seen.readOnly = failureOf(() => writeFileSync(join(target, 'new'), ''));
await host.unmount(target);
await host.unmount(mount);
await mountDrive();
seen.afterReboot = {
  limit: await limitOf(b),
  ...fill(join(b, 'file'), 40),
  bytes: statSync(join(b, 'file')).size,
};

// A directory from a time without quota has content already.
const old = await host.directories.begin(mount, 'old');
mkdirSync(join(old, 'deep'));
fill(join(old, 'deep/file'), 8);
// Neither can be opened: a pipe without a writer, and a link that leads nowhere.
run('mkfifo', join(old, 'pipe'));
symlinkSync('nowhere', join(old, 'link'));
await host.quota.limit({ mount, path: old, volume: 'old' }, 10 * mebibyte);
seen.adopted = { used: (await host.usage(old)).usedBytes / mebibyte, ...fill(join(old, 'deep/file'), 8) };

// The id that a volume would get belongs to another directory.
const first = await create('c', mebibyte);
const taken = projectOf(first);
await host.quota.lift({ mount, path: await host.directories.retire(mount, 'c'), volume: 'c' });
await host.directories.remove(mount, 'c');
const foreign = join(mount, 'foreign');
mkdirSync(foreign);
run('xfs_io', '-r', '-c', `chproj ${taken}`, '-c', 'chattr +P', foreign);
const second = await create('c', mebibyte);
seen.collision = { taken, got: projectOf(second), ...fill(join(second, 'file'), 4) };

for (const volume of ['a', 'b', 'c', 'old']) {
  const path = await host.directories.retire(mount, volume);
  await host.quota.lift({ mount, path, volume });
  await host.directories.remove(mount, volume);
}
seen.left = {
  isEmpty: await host.directories.isEmpty(mount),
  limits: run('xfs_quota', '-x', '-c', 'report -p -n -N -b', mount)
    .split('\n')
    .filter((line) => line.startsWith('#') && Number(line.split(/\s+/)[3]) > 0),
};
await host.unmount(mount);
process.stdout.write(`${JSON.stringify(seen)}\n`);
