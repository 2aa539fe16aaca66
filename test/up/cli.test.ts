import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { controllerNames } from '../../src/controllers/controller-names.ts';
import { ApiClient } from './api-client.ts';
import { callInFolder, callInProcess } from './in-process.ts';
import { callStowage, newFolder, removeFolder, StowageProcess, temporaryFolder } from './stowage-process.ts';

describe('stowage up with nothing but a data directory', () => {
  let folder = '';
  let data = '';
  let stowage: StowageProcess;

  beforeAll(async () => {
    folder = newFolder();
    data = join(folder, 'data');
    stowage = await StowageProcess.up(data);
  });

  afterAll(() => removeFolder(folder));

  test('prints the path of its kubeconfig once it is ready', async () => {
    expect(stowage.stdout).toBe(`export KUBECONFIG=${data}/kubeconfig\n`);
    expect(stowage.stderr).toMatch(
      new RegExp(
        `^${startOf(data)}stowage: listening on https://127\\.0\\.0\\.1:\\d+, data in ${data}, controllers: scheduler, pv-binder, `,
      ),
    );
    const { status, body } = await new ApiClient(stowage.access).call('GET', '/api/v1/namespaces');
    expect(status).toBe(200);
    expect(body.items?.map(({ metadata }) => metadata.name)).toContain('default');
  });

  test('makes secrets readable only by its user', () => {
    expect(modeOf(data)).toBe('700');
    for (const name of ['kubeconfig', 'token', 'tls.key'])
      expect([name, modeOf(join(data, name))]).toEqual([name, '600']);
  });

  test('answers requests without the token only for health and version', async () => {
    const client = new ApiClient(stowage.access);
    const statusOf = async (path: string, token: string) =>
      (await client.call('GET', path, { token })).status;
    for (const path of ['/healthz', '/livez', '/readyz', '/version'])
      expect([path, await statusOf(path, '')]).toEqual([path, 200]);
    for (const path of [
      '/',
      '/api',
      '/apis',
      '/openapi/v3',
      '/openapi/v2',
      '/metrics',
      '/api/v1/namespaces',
      '/nowhere',
    ]) {
      for (const token of ['', 'wrong', `${stowage.access.token}x`]) {
        expect([path, token, await statusOf(path, token)]).toEqual([path, token, 401]);
      }
    }
    const { body } = await client.call('GET', '/api/v1/secrets', { token: 'wrong' });
    expect(body).toMatchObject({
      kind: 'Status',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  });

  test('another process cannot use its port', async () => {
    const { port } = new URL(stowage.access.url);
    expect(await callStowage('up', '--data', join(folder, 'b'), '--port', port)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${startOf(join(folder, 'b'))}stowage: port ${port} of 127.0.0.1 is in use; stop what listens there, or choose another with --port (0 picks a free one)\n`,
    });
  });

  test('another process cannot use its data directory, and it keeps running', async () => {
    const before = stowage.access;
    expect(await callStowage('up', '--data', data, '--port', '0')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${startOf(data)}stowage: the data directory ${data}/store is in use by process ${stowage.pid}; stop it or choose another with --data\n`,
    });
    expect(stowage.access).toEqual(before);
    const reply = await new ApiClient(stowage.access).call('POST', '/api/v1/namespaces', {
      body: { metadata: { name: 'more' } },
    });
    expect(reply.status).toBe(201);
  });
});

describe('stowage up', () => {
  // Each of the following starts also has another list of controllers: a start costs more than all checks.
  test('makes a data directory that git ignores, and runs no controllers', async () => {
    const folder = temporaryFolder();
    const stowage = new StowageProcess(['up', '--port', '0', '--controllers', 'none'], folder);
    onTestFinished(() => stowage.kill());
    await stowage.answers();
    expect(readFileSync(join(folder, '.stowage/.gitignore'), 'utf8')).toBe('*\n');
    expect(stowage.stderr).toContain('controllers: none\n');
  });

  test('warns about a data directory that its group may write to, and runs one controller', async () => {
    const data = temporaryFolder();
    chmodSync(data, 0o770);
    const stowage = await StowageProcess.up(data, '--controllers', 'namespace', '--no-console');
    expect(stowage.stderr).toContain(
      `${data} is open to the users of its group (mode 770): chmod go-w ${data}\n`,
    );
    expect(stowage.stderr).toContain('controllers: namespace\n');
  });

  test('prints an absolute path for a relative data directory, and runs two controllers', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'here'));
    const places = ['--data', '../data', '--kubeconfig', `${folder}/k`];
    const stowage = new StowageProcess(
      ['up', ...places, '--port', '0', '--controllers', 'garbage-collector,namespace'],
      `${folder}/here`,
    );
    await stowage.answers();
    expect(stowage.kubeconfig).toBe(join(folder, 'k'));
    expect(existsSync(join(folder, 'data/store'))).toBe(true);
    expect(stowage.stderr).toContain('controllers: garbage-collector, namespace\n');
  });

  test('creates the folder of the kubeconfig, and runs all controllers but one', async () => {
    const folder = temporaryFolder();
    const flags = ['--kubeconfig', join(folder, 'a/b/config'), '--controllers', '*,-protection'];
    const stowage = await StowageProcess.up(join(folder, 'data'), ...flags);
    expect(isAbsolute(stowage.kubeconfig)).toBe(true);
    expect(modeOf(join(folder, 'a/b/config'))).toBe('600');
    expect(existsSync(join(folder, 'data/kubeconfig'))).toBe(false);
    expect(stowage.access.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const others = controllerNames.filter((name) => name !== 'protection').join(', ');
    expect(stowage.stderr).toContain(`controllers: ${others}\n`);
  });
});

describe('wrong usage exits with 2, prints a hint, and creates nothing', () => {
  const hint = /see stowage (up )?--help\n$/;
  test.each([
    [['up', '--prot', '3'], /error: unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['up', '--zzz'], /error: unknown option '--zzz'/],
    [['upp'], /error: unknown command 'upp'\n\(Did you mean up\?\)/],
    [['up', 'extra'], /error: too many arguments/],
    [['up', '--port'], /error: option '--port <n>' argument missing/],
    [['up', '--port', 'abc'], /--port: "abc" is not a port; give a number from 0 to 65535/],
    [['up', '--port', '65536'], /--port: "65536" is not a port/],
    [['up', '--port=-1'], /--port: "-1" is not a port/],
    [['up', '--port', ''], /--port: "" is not a port/],
    [['up', '--data', ''], /--data: give a directory/],
    [['up', '--log-level', 'loud'], /--log-level: "loud" must be one of debug, info, warn, error/],
    [
      ['up', '--controllers', 'bad'],
      /unknown controller "bad"; must be \*, none, or some of scheduler, pv-binder, /,
    ],
    [['up', '--controllers', 'none,namespace'], /"none" must be the only name/],
  ])('%j', async (args, complaint) => {
    const folder = temporaryFolder();
    const { status, stdout, stderr } = await callInFolder(folder, ...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(complaint);
    expect(stderr).toMatch(hint);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an error at the start exits with 1 and prints the remedy', () => {
  // Runs in the process of the test, because the program has opened nothing yet.
  test('a data directory that is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(await callInProcess('up', '--data', file, '--port', '0')).toMatchObject({
      status: 1,
      stderr: `${startOf(file)}stowage: the data directory ${file} cannot be used: it is not a directory; choose another with --data\n`,
    });
  });

  test('a data directory that every user may write to', async () => {
    const data = temporaryFolder();
    chmodSync(data, 0o777);
    expect(await callInProcess('up', '--data', data, '--port', '0')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${startOf(data)}stowage: ${data} is open to every user of this machine (mode 777): chmod go-w ${data}\n`,
    });
    expect(existsSync(join(data, 'token'))).toBe(false);
  });

  test('a token that every user may read', async () => {
    const data = temporaryFolder();
    const token = join(data, 'token');
    writeFileSync(token, 'secret');
    chmodSync(token, 0o644);
    expect(await callInProcess('up', '--data', data, '--port', '0')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${startOf(data)}stowage: ${token} is open to every user of this machine (mode 644): chmod 600 ${token}, or delete it to get a new one\n`,
    });
  });

  test.skipIf(process.getuid?.() === 0)(
    'a data directory without permission (not as root, who always has it)',
    async () => {
      const folder = temporaryFolder();
      const data = join(folder, 'data');
      mkdirSync(data, { mode: 0o500 });
      const { status, stderr } = await callStowage('up', '--data', data, '--port', '0');
      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining('no permission to read and write it; choose another with --data'),
      ]);
    },
  );

  test('an address of another machine', async () => {
    // From a block for documentation (RFC 5737): no machine has it.
    const data = temporaryFolder();
    const call = await callStowage('up', '--data', data, '--host', '192.0.2.1', '--port', '0');
    expect(call).toMatchObject({
      status: 1,
      stderr: `${startOf(data)}stowage: this machine has no address 192.0.2.1; choose another with --host\n`,
    });
  });

  test('a kubeconfig that cannot be written', async () => {
    const data = temporaryFolder();
    const { status, stdout, stderr } = await callStowage(
      'up',
      '--data',
      data,
      '--port',
      '0',
      '--kubeconfig',
      data,
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /\nstowage: cannot write the kubeconfig .*; choose another file with --kubeconfig\n$/,
    );
    await StowageProcess.up(data);
  });
});

describe('help', () => {
  test('of up has examples, and hides flags that few need', async () => {
    const { status, stdout } = await callInProcess('up', '--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(/\nExamples:\n {2}stowage up {2,}\S/);
    expect(stdout.split('\n').length).toBeLessThan(60);
    for (const flag of [
      '--data',
      '--port',
      '--host',
      '--kubeconfig',
      '--controllers',
      '--no-console',
      '--demo',
      '--fresh',
    ]) {
      expect(stdout).toContain(`  ${flag} `);
    }
  });

  test('without a command exits with 2', async () => {
    const { status, stdout, stderr } = await callInProcess();
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: stowage [options] [command]');
  });

  test('--version prints the version of the package', async () => {
    expect(await callStowage('--version')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** The first line, which the program prints before it loads the server. */
function startOf(data: string): string {
  return `stowage: starting an API server and controllers, data in ${data}\n`;
}
