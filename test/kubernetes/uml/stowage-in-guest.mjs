import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

/* All of Stowage for the drives of one node, in the kernel with XFS quota: `up`, and `csi` with both services. */

const mebibyte = 1024 * 1024;

export const volumeCapability = { accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } };

export class StowageInGuest {
  folder = '/mnt/stowage';
  #code;
  #program;
  #children = [];
  #client;
  #access = [];

  /** `code` is the folder of the compiled src. */
  constructor(code) {
    this.#code = code;
    this.#program = join(code, 'cli/main.js');
  }

  /** Resolves when the node service has mounted these devices. */
  async start(...devices) {
    execFileSync('ip', ['link', 'set', 'lo', 'up']);
    mkdirSync(`${this.folder}/drives`, { recursive: true });
    const data = ['--data', `${this.folder}/data`, '--port', '0', '--controllers', 'none'];
    const up = await this.#start('export KUBECONFIG=', 'up', ...data);
    this.#access = ['--kubeconfig', /export KUBECONFIG=(.+)/.exec(up)[1]];
    await this.api('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    this.stowage('drives', 'init', ...devices, '--node-name', 'n1', '--yes');
    const address = `${this.folder}/csi.sock`;
    const flags = ['--endpoint', `unix://${address}`, '--node-name', 'n1'];
    await this.#start(
      'calls are answered',
      'csi',
      ...flags,
      '--drives-root',
      `${this.folder}/drives`,
      ...this.#access,
    );
    await this.#connect(address);
  }

  stop() {
    this.#client?.close();
    for (const child of this.#children) child.kill('SIGKILL');
  }

  /** Runs a command that must succeed. */
  stowage(...args) {
    return execFileSync(process.execPath, [this.#program, ...args, ...this.#access], { encoding: 'utf8' });
  }

  /** Runs a command, with this folder first in PATH. */
  async attempt(folder, ...args) {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const child = spawn(process.execPath, [this.#program, ...args, ...this.#access], { env, stdio: 'pipe' });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return await new Promise((resolve) =>
      child.once('exit', (status, signal) => resolve({ status: status ?? signal, output })),
    );
  }

  call(method, call) {
    return this.#client.call(method, call, { signal: new AbortController().signal, timeoutMs: 600_000 });
  }

  /** Calls the API server; resolves with the object. */
  api(method, path, body) {
    const { clusters, users } = parse(readFileSync(this.#access[1], 'utf8'));
    const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
    const headers = { authorization: `Bearer ${users[0].user.token}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const options = { method, headers, ca: Buffer.from(authority, 'base64') };
      const call = request(`${server}${path}`, options, (reply) => {
        let text = '';
        reply.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)));
      });
      call.once('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Starts `stowage ...`, and resolves with its output when it has printed the text. */
  #start(text, ...args) {
    const child = spawn(process.execPath, [this.#program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.push(child);
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

  async #connect(address) {
    const load = (file) => import(pathToFileURL(join(this.#code, file)).href);
    const { CsiClient } = await load('csi/csi-client.js');
    const { realClock: clock } = await load('runtime/clock.js');
    const { silentLog: log } = await load('runtime/log.js');
    const { Metrics } = await load('runtime/metrics.js');
    this.#client = new CsiClient({ address, clock, log, metrics: new Metrics() });
  }
}

/** Writes so many MiB; returns how many were written, and the code of the error that ended it. */
export function fill(path, count) {
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
