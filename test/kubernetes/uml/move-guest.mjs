import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fill, StowageInGuest, volumeCapability } from './stowage-in-guest.mjs';

/*
 * Runs in the kernel with XFS quota: `stowage move` of a drive whose volume has all kinds of files. It is killed while it copies, gets a copy
 * that differs, is killed while it removes the source, and completes. Prints what it saw as JSON.
 *
 *   node move-guest.mjs FOLDER     the folder of the compiled src
 */

const [, , code] = process.argv;
const mebibyte = 1024 * 1024;
const sizeMiB = 200;
const guest = new StowageInGuest(code);
const [programs, modeFile, look] = ['/mnt/programs', '/mnt/mode', '/mnt/look'];
const staging = `${guest.folder}/staging`;
const seen = {};

/** A program that does not end is named by the error. */
const run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', timeout: 600_000 });

// ── What is in the volume ──

function makeFiles(folder) {
  const path = (name) => join(folder, name);
  writeFileSync(path('plain'), 'plain'.repeat(1000));
  chmodSync(path('plain'), 0o640);
  chownSync(path('plain'), 1234, 5678);
  writeFileSync(path('program'), '#!/bin/sh\n');
  chmodSync(path('program'), 0o4755);
  mkdirSync(path('shared/deep/empty'), { recursive: true });
  chmodSync(path('shared'), 0o3775);
  writeFileSync(path('one'), 'linked');
  linkSync(path('one'), path('shared/other'));
  symlinkSync('plain', path('relative'));
  symlinkSync('nowhere', path('dangling'));
  symlinkSync('/etc/hostname', path('absolute'));
  run('mkfifo', path('pipe'));
  run('mknod', path('device'), 'c', '1', '3');
  writeFileSync(path('sparse'), '');
  truncateSync(path('sparse'), 2048 * mebibyte);
  run('sh', '-c', 'printf end >> "$1"', 'sh', path('sparse'));
  fill(path('large'), 40);
  // A name that is not UTF-8, with a line end.
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x0a])]), 'bytes');
  writeFileSync(path('attributes'), '');
  setAttribute(path('attributes'), 'user.note', 'text');
  setAttribute(path('attributes'), 'trusted.note', 'of root');
  writeFileSync(path('listed'), '');
  chmodSync(path('listed'), 0o640);
  setAttribute(path('listed'), 'system.posix_acl_access', accessList(4, 6));
  setAttribute(path('shared/deep'), 'system.posix_acl_default', accessList(7, 5));
  utimesSync(path('plain'), 1_000_000.5, 2_000_000.25);
}

/**
 * What setfacl writes: the owner, user 4321 with `permissions`, the group, the mask and others. Version 2, then a tag, permissions and an id for each
 * entry; entries without an id have -1.
 */
function accessList(permissions, mask) {
  const [owner, user, group, maskTag, others] = [0x01, 0x02, 0x04, 0x10, 0x20];
  const entries = [
    [owner, 6, -1],
    [user, permissions, 4321],
    [group, 4, -1],
    [maskTag, mask, -1],
    [others, 0, -1],
  ];
  const list = Buffer.alloc(4 + 8 * entries.length);
  list.writeUInt32LE(2);
  for (const [at, [tag, allowed, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + 8 * at);
    list.writeUInt16LE(allowed, 6 + 8 * at);
    list.writeInt32LE(id, 8 + 8 * at);
  }
  return list;
}

/** There is no program for it on every machine; perl is. */
function setAttribute(path, name, value) {
  const call =
    'my $v = pack("H*", $ARGV[2]); syscall(188, $ARGV[0], $ARGV[1], $v, length($v), 0) == 0 or die "$!"';
  run('perl', '-e', call, path, name, Buffer.from(value).toString('hex'));
}

const attributeNames = ['user.note', 'trusted.note', 'system.posix_acl_access', 'system.posix_acl_default'];

function attributesOf(path) {
  const call =
    'for (@ARGV[1..$#ARGV]) { my $v = "\\0" x 256; my $n = syscall(191, $ARGV[0], $_, $v, 256); print $n < 0 ? "-" : unpack("H*", substr($v, 0, $n)), " " }';
  return run('perl', '-e', call, path, ...attributeNames);
}

/** Everything below a folder, one line each. */
function manifest(folder) {
  const lines = [];
  const visit = (path) => {
    const found = lstatSync(path, { bigint: true });
    const { mode, uid, gid, rdev, mtimeNs, nlink, size } = found;
    const facts = [mode, uid, gid, rdev, mtimeNs, nlink, found.isDirectory() ? '' : size];
    if (found.isSymbolicLink()) facts.push(readlinkSync(path));
    if (found.isFile()) facts.push(contentOf(path, size));
    lines.push(`${path.subarray(Buffer.byteLength(folder)).toString('latin1')} ${facts.join(' ')}`);
    if (found.isDirectory())
      for (const name of readdirSync(path, 'buffer').sort(Buffer.compare))
        visit(Buffer.concat([path, Buffer.from('/'), name]));
  };
  visit(Buffer.from(folder));
  for (const name of ['attributes', 'listed', 'shared/deep'])
    lines.push(`attributes of ${name}: ${attributesOf(join(folder, name))}`);
  return lines;
}

/** Reads the end of a sparse file. */
function contentOf(path, size) {
  if (size > BigInt(1024 * mebibyte)) return run('tail', '-c', '10', path.toString());
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

// ── Drives ──

/** Uses a drive while it is mounted here, too. */
function onDevice(device, use) {
  run('mount', '-t', 'xfs', '-o', 'noatime,prjquota', device, look);
  try {
    return use(look);
  } finally {
    run('umount', look);
  }
}

const drivesPath = '/apis/stowage.dev/v1alpha1/drives';

async function driveOf(device) {
  const { items } = await guest.api('GET', drivesPath);
  return items.find(({ status }) => status?.device?.path === device);
}

/** What the ledgers, the states and the devices have. */
async function observe(expected) {
  const of = async (device) => {
    const { spec, status } = await driveOf(device);
    const entries = (spec.volumes ?? []).map(({ name }) => name);
    const held = onDevice(device, (mount) => {
      const volumes = readdirSync(join(mount, 'volumes'));
      const isEqual = volumes.map(
        (name) => manifest(join(mount, 'volumes', name)).join('\n') === expected.join('\n'),
      );
      return { isEqual, remains: readdirSync(join(mount, 'deleted')).length };
    });
    return { entries: entries.length, isRepairing: status.state === 'Repairing', ...held };
  };
  return { source: await of('/dev/ubda'), target: await of('/dev/ubdb') };
}

/** The programs that `stowage move` starts, with a mode for each fault. A copy outlives the process that is killed, and uses the drive for a while. */
function writePrograms() {
  mkdirSync(programs);
  const last = 'for last; do :; done';
  const scripts = {
    cp: `${last}
case $(cat ${modeFile}) in
  copy) /bin/cp "$@"; truncate -s 1M "$last/large"; exec 9< "$last/large"; kill -9 $PPID; sleep 5;;
  difference) /bin/cp "$@"; printf x | dd of="$last/plain" bs=1 seek=2000 conv=notrunc status=none
    touch -r ${programs}/reference "$last/plain";;
  *) exec /bin/cp "$@";;
esac`,
    rm: `${last}
case $(cat ${modeFile}) in
  removal) case $last in */deleted/*) /bin/rm -f "$last/large"; kill -9 $PPID;; *) exec /bin/rm "$@";; esac;;
  *) exec /bin/rm "$@";;
esac`,
  };
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

async function move(mode, drive) {
  writeFileSync(modeFile, mode);
  return await guest.attempt(programs, 'move', `drive/${drive}`, '--yes', '--timeout', '10m');
}

// ── The test ──

async function prepare() {
  await guest.start('/dev/ubda', '/dev/ubdb');
  mkdirSync(look);
  writePrograms();
  const [source, target] = [await driveOf('/dev/ubda'), await driveOf('/dev/ubdb')];
  guest.stowage('drives', 'cordon', target.metadata.name);
  const pvc = { 'csi.storage.k8s.io/pvc/name': 'data', 'csi.storage.k8s.io/pvc/namespace': 'default' };
  const { volume } = await guest.call('CreateVolume', {
    name: 'pvc-1',
    capacityRange: { requiredBytes: BigInt(sizeMiB * mebibyte) },
    volumeCapabilities: [volumeCapability],
    parameters: pvc,
  });
  guest.stowage('drives', 'uncordon', target.metadata.name);
  return { drive: source.metadata.name, volume };
}

const stage = ({ volumeId, volumeContext }) =>
  guest.call('NodeStageVolume', { volumeId, volumeContext, stagingTargetPath: staging, volumeCapability });
const unstage = ({ volumeId }) => guest.call('NodeUnstageVolume', { volumeId, stagingTargetPath: staging });

async function moveWithFaults(drive, volume) {
  await stage(volume);
  makeFiles(staging);
  const expected = manifest(staging);
  run('touch', '-r', join(staging, 'plain'), join(programs, 'reference'));
  seen.files = expected.length;
  seen.attributes = expected.find((line) => line.startsWith('attributes of attributes'));
  seen.accessLists = expected.filter((line) => /^attributes of .* 02000000/.test(line)).length;
  await unstage(volume);
  for (const fault of ['copy', 'difference', 'removal']) {
    const { status, output } = await move(fault, drive);
    seen[fault] = { status, output, ...(await observe(expected)) };
    if (fault === 'copy')
      seen.staged = await stage(volume).then(
        () => 'staged',
        ({ code }) => code,
      );
  }
  seen.end = { ...(await move('none', drive)), ...(await observe(expected)) };
}

async function useMoved(volume) {
  await stage(volume);
  const { usage } = await guest.call('NodeGetVolumeStats', {
    volumeId: volume.volumeId,
    volumePath: staging,
  });
  seen.usage = usage.map(({ unit, total, used }) => ({ unit, total: Number(total), used: Number(used) }));
  const blocks = (name) => Number(lstatSync(join(staging, name)).blocks);
  seen.sparseKiB = blocks('sparse') / 2;
  const projectOf = (name) =>
    /projid = (\d+)/.exec(run('xfs_io', '-r', '-c', 'lsproj', join(staging, name)))[1];
  seen.projects = ['.', 'plain', 'shared/deep', 'large'].map(projectOf);
  seen.full = fill(join(staging, 'more'), sizeMiB);
  await unstage(volume);
  await guest.call('DeleteVolume', { volumeId: volume.volumeId });
}

try {
  const { drive, volume } = await prepare();
  await moveWithFaults(drive, volume);
  await useMoved(volume);
  const limits = (mount) =>
    run('xfs_quota', '-x', '-c', 'report -p -n -N -b', mount)
      .split('\n')
      .filter((line) => line.startsWith('#') && Number(line.split(/\s+/)[3]) > 0);
  seen.limits = onDevice('/dev/ubda', limits);
  const { items } = await guest.api('GET', drivesPath);
  seen.cordoned = items.map(({ metadata, spec }) => [metadata.name === drive, spec.unschedulable === true]);
  seen.node = (await guest.api('GET', '/api/v1/nodes/n1')).spec ?? {};
  process.stdout.write(`${JSON.stringify(seen)}\n`);
} finally {
  guest.stop();
}
