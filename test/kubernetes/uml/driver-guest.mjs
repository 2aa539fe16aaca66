import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

/*
 * Runs in the kernel with XFS quota: from an empty disk to a volume that is published, full, and grows. All of Stowage runs here: `up`, and
 * `csi` with both services. Prints what it saw as JSON.
 *
 *   node driver-guest.mjs FOLDER     the folder of the compiled src
 */

const [, , code] = process.argv;
const load = (file) => import(pathToFileURL(join(code, file)).href);
const { CsiClient } = await load('csi/csi-client.js');
const { realClock } = await load('runtime/clock.js');
const { silentLog } = await load('runtime/log.js');
const { Metrics } = await load('runtime/metrics.js');

const mebibyte = 1024 * 1024;
const folder = '/mnt/stowage';
const address = `${folder}/csi.sock`;
const program = join(code, 'cli/main.js');
const seen = {};
const children = [];

/** Starts `stowage ...`, and resolves with its output when it has printed the text. */
function start(text, ...args) {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let output = '';
    const receive = (chunk) => {
      output += chunk;
      if (output.includes(text)) resolve(output);
    };
    child.stdout.on('data', receive);
    child.stderr.on('data', receive);
    child.once('exit', (status) => reject(new Error(`stowage ${args[0]} ended with ${status}: ${output}`)));
  });
}

const stowage = (...args) => execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' });

/** Writes so many MiB; returns how many were written, and the code of the error that ended it. */
function fill(path, count) {
  const file = openSync(path, 'a');
  const bytes = Buffer.alloc(mebibyte, 'x');
  try {
    for (let written = 0; written < count; written += 1) {
      try {
        if (writeSync(file, bytes) < mebibyte) writeSync(file, bytes);
      } catch (error) {
        return { written, error: error.code };
      }
    }
    return { written: count };
  } finally {
    closeSync(file);
  }
}

/** The node that the drives are in. */
function createNode(kubeconfig) {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}`, 'content-type': 'application/json' };
  const options = { method: 'POST', headers, ca: Buffer.from(authority, 'base64') };
  return new Promise((resolve, reject) => {
    const call = request(`${server}/api/v1/nodes`, options, (reply) => resolve(reply.resume().statusCode));
    call.once('error', reject);
    call.end(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }));
  });
}

async function useVolume(client) {
  const call = (method, request) =>
    client.call(method, request, { signal: new AbortController().signal, timeoutMs: 60_000 });
  const volumeCapability = { accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } };
  const { volume } = await call('CreateVolume', {
    name: 'data',
    capacityRange: { requiredBytes: BigInt(20 * mebibyte) },
    volumeCapabilities: [volumeCapability],
  });
  const { volumeId, volumeContext } = volume;
  const [stagingTargetPath, targetPath] = [`${folder}/staging`, `${folder}/target`];
  const wanted = { volumeId, volumeContext, stagingTargetPath, volumeCapability };
  await call('NodeStageVolume', wanted);
  await call('NodePublishVolume', { ...wanted, targetPath });
  seen.full = fill(join(targetPath, 'file'), 40);

  const size = { volumeId, capacityRange: { requiredBytes: BigInt(60 * mebibyte) } };
  await call('ControllerExpandVolume', size);
  await call('NodeExpandVolume', { ...size, volumePath: targetPath });
  seen.expanded = fill(join(targetPath, 'file'), 20);
  seen.bytes = statSync(join(targetPath, 'file')).size;
  const { usage } = await call('NodeGetVolumeStats', { volumeId, volumePath: targetPath });
  seen.usage = usage.map(({ unit, total, used }) => ({ unit, total: Number(total), used: Number(used) }));

  await call('NodeUnpublishVolume', { volumeId, targetPath });
  await call('NodeUnstageVolume', { volumeId, stagingTargetPath });
  await call('DeleteVolume', { volumeId });
}

try {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  mkdirSync(folder);
  const up = await start(
    'export KUBECONFIG=',
    'up',
    '--data',
    `${folder}/data`,
    '--port',
    '0',
    '--controllers',
    'none',
  );
  const kubeconfig = /export KUBECONFIG=(.+)/.exec(up)[1];
  const access = ['--kubeconfig', kubeconfig];
  await createNode(kubeconfig);
  stowage('drives', 'init', '/dev/ubda', '--node-name', 'n1', '--yes', ...access);
  const flags = ['--endpoint', `unix://${address}`, '--node-name', 'n1', '--drives-root', `${folder}/drives`];
  mkdirSync(`${folder}/drives`);
  await start('calls are answered', 'csi', ...flags, ...access);
  const client = new CsiClient({ address, clock: realClock, log: silentLog, metrics: new Metrics() });
  await useVolume(client);
  client.close();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
} finally {
  for (const child of children) child.kill('SIGKILL');
}
