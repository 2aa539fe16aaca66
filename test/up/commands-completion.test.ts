import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtProgram, compiledCodeFolder } from '../built-program.ts';
import { ApiClient } from './api-client.ts';
import { callInProcess } from './in-process.ts';
import { callStowage, StowageProcess, temporaryFolder } from './stowage-process.ts';

/** What a real bash completes for the last argument, including the options of `complete`. */
function offered(
  script: string,
  commandLine: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = { PATH: process.env.PATH },
): readonly string[] {
  const program = `
    source "$1"; shift
    complete -p stowage | grep -q -- '-F _stowage' || exit 9
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stowage 2>/dev/null
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--noprofile', '--norc', '-c', program, 'bash', script, ...commandLine];
  const printed = execFileSync('bash', args, { encoding: 'utf8', cwd, env });
  return printed.split('\n').filter((line) => line !== '');
}

async function scriptFile(shell: string): Promise<string> {
  const { status, stdout, stderr } = await callStowage('completion', shell);
  expect([status, stderr]).toEqual([0, '']);
  const file = join(temporaryFolder(), 'script');
  writeFileSync(file, stdout);
  return file;
}

describe('completion in bash', () => {
  test('offers commands, flags, values and paths in the right positions', async () => {
    const script = await scriptFile('bash');
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'admin conf.yaml'), '');
    mkdirSync(join(folder, 'capacity'));
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['stowage ca', ['capacity']],
      ['stowage re', ['reservations']],
      ['stowage --ver', ['--version']],
      ['stowage capacity --cl', ['--class']],
      ['stowage capacity -o y', ['yaml']],
      ['stowage capacity --output = na', ['name']],
      ['stowage capacity --output =', ['table', 'wide', 'json', 'yaml', 'name']],
      [
        'stowage explain ',
        [
          'pod',
          'claim',
          'deployment',
          'statefulset',
          'replicaset',
          '-n',
          '--namespace',
          '--kubeconfig',
          '--context',
          '--from',
        ],
      ],
      ['stowage explain -n shop cl', ['claim']],
      ['stowage explain pod x --pro', ['--profile']],
      ['stowage explain pod x --profile up', ['upstream']],
      ['stowage explain -o n', ['name']],
      ['stowage up --log-level w', ['warn']],
      ['stowage up --data ca', ['capacity']],
      ['stowage up --controllers pv', ['pv-binder']],
      ['stowage upgrade-zonal-pvs --dry-run = f', ['false']],
      ['stowage upgrade-zonal-pvs --dry-run --ku', ['--kubeconfig']],
      ['stowage capacity --kubeconfig ad', ['admin conf.yaml']],
      ['stowage completion z', ['zsh']],
      ['stowage drives di', ['discover']],
      ['stowage drives list v', ['volumes']],
      ['stowage drives list -o y', ['yaml']],
      ['stowage drives tier n1 H', ['Hot']],
      ['stowage drives discover --output-file ad', ['admin conf.yaml']],
      ['stowage drives init ad', ['admin conf.yaml']],
      ['stowage disks ev', ['evict']],
      ['stowage disks list --sel', ['--selector']],
      ['stowage disks image up', ['upload']],
      ['stowage disks image list -o y', ['yaml']],
      ['stowage disks image upload ubuntu ad', ['admin conf.yaml']],
      ['stowage nonsense --', []],
    ];
    for (const [line, expected] of cases) {
      const found = offered(script, line.split(' '), folder);
      expect([line, found.slice(0, Math.max(expected.length, 1))]).toEqual([line, expected]);
    }
  });

  test('can be loaded without a file', async () => {
    const { stdout } = await callStowage('completion', 'bash');
    const program = 'source <(printf %s "$1"); complete -p stowage';
    expect(execFileSync('bash', ['--norc', '-c', program, 'bash', stdout], { encoding: 'utf8' })).toBe(
      'complete -F _stowage stowage\n',
    );
  });
});

/** The completions of zsh and fish for a command line, in any order. */
const lines: readonly (readonly [string, readonly string[]])[] = [
  ['stowage ca', ['capacity']],
  ['stowage --ver', ['--version']],
  ['stowage capacity --cl', ['--class']],
  ['stowage capacity -o ', ['json', 'name', 'table', 'wide', 'yaml']],
  ['stowage capacity --output=na', ['name']],
  ['stowage explain ', ['claim', 'deployment', 'pod', 'replicaset', 'statefulset']],
  ['stowage explain -n run cl', ['claim']],
  ['stowage explain pod we', ['web-0', 'web-1']],
  ['stowage explain -n kube-system pod we', []],
  ['stowage explain claim we', []],
  ['stowage explain pod claim p', []],
  ['stowage explain -n kube-s', ['kube-system']],
  ['stowage explain pod x --profile u', ['upstream']],
  ['stowage up --log-level w', ['warn']],
  ['stowage upgrade-zonal-pvs --dry-run=f', ['false']],
  ['stowage upgrade-zonal-pvs --dry-run --ku', ['--kubeconfig']],
  ['stowage completion z', ['zsh']],
  ['stowage drives unc', ['uncordon']],
  ['stowage drives list v', ['volumes']],
  ['stowage drives tier x H', ['Hot']],
  ['stowage disks unc', ['uncordon']],
  ['stowage disks image up', ['upload']],
  ['stowage disks describe node/', ['node/n1']],
  ['stowage disks remove n1', ['n1/ssd']],
];

const asked = lines.map(([line]) => line);

/** The output of `ask`: each command line, followed by its completions, indented. */
const expected = lines.flatMap(([line, offers]) => [line, ...offers.map((offer) => `  ${offer}`)]);

const fishProgram = `
  source $argv[1]
  for line in $argv[2..-1]
    echo $line
    complete -C$line | string split -f1 \\t | string replace -r '^--\\S+=' '' | sort | sed 's/^/  /'
  end`;

describe('completion of names in the cluster', () => {
  test.skipIf(!isInstalled('fish'))('works in fish, if installed', async () => {
    const { folder, env } = await shellFolder('fish');
    const args = ['--no-config', '-c', fishProgram, join(folder, '_stowage'), ...asked];
    expect(printedBy('fish', args, { env, cwd: folder })).toEqual(expected);
  });

  test.skipIf(!isInstalled('zsh'))('works in zsh, if installed', async () => {
    const { folder, env } = await shellFolder('zsh');
    const args = ['-f', join(import.meta.dirname, 'zsh-completion.zsh'), folder, ...asked];
    expect(printedBy('zsh', args, { env, cwd: folder })).toEqual(expected);
  });

  test('works in bash, and prints nothing without a cluster', async () => {
    const { folder, env } = await shellFolder('bash');
    const script = join(folder, '_stowage');
    const offer = (line: string, more: object = {}) =>
      offered(script, line.split(' '), folder, { ...env, ...more });
    expect(offer('stowage explain pod we')).toEqual(['web-0', 'web-1']);
    expect(offer('stowage explain -n kube-s')).toEqual(['kube-system']);
    expect(offer('stowage disks describe n')).toEqual(['n1/ssd', 'node/n1']);
    expect(offer('stowage disks remove n')).toEqual(['n1/ssd']);
    expect(offer('stowage explain pod we', { KUBECONFIG: '/nowhere' })).toEqual([]);
  });
});

/** Names that a shell would evaluate, expand to files or treat as flags, and one that it would not. */
const hostileNames = [
  '$(touch hacked)',
  '`touch hacked`',
  'a;touch hacked',
  'a\ttouch hacked',
  '\x24{x:=y}',
  '*',
  '~',
  '--kubeconfig',
  'web-0',
];

describe('names of a hostile server', () => {
  test('are not printed unless Kubernetes allows them', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      const items = hostileNames.map((name) => ({ metadata: { name } }));
      response.end(
        JSON.stringify({
          kind: 'NamespaceList',
          apiVersion: 'v1',
          metadata: { resourceVersion: '1' },
          items,
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const kubeconfig = join(temporaryFolder(), 'config');
    const cluster = { name: 'c', cluster: { server: `http://127.0.0.1:${port}` } };
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    const content = { clusters: [cluster], users: [{ name: 'u', user: {} }], contexts: [context] };
    writeFileSync(kubeconfig, JSON.stringify({ ...content, 'current-context': 'c' }));
    const names = new StowageProcess(['__names', 'namespace', '--', '--kubeconfig', kubeconfig]);
    await names.exited;
    server.close();
    expect([names.stdout, names.stderr]).toEqual(['web-0\n', '']);
  });

  test('are not evaluated by bash, even if the program prints them', async () => {
    const folder = temporaryFolder();
    const lines = hostileNames.map((name) => `'${name}'`).join(' ');
    writeFileSync(join(folder, 'stowage'), `#!/bin/sh\nprintf '%s\\n' ${lines}\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const found = offered(await scriptFile('bash'), ['stowage', 'explain', '-n', ''], folder, env);
    expect([found, readdirSync(folder)]).toEqual([['web-0'], ['stowage']]);
  });
});

function printedBy(shell: string, args: readonly string[], options: ExecFileSyncOptions): readonly string[] {
  return execFileSync(shell, args, { ...options, encoding: 'utf8' })
    .trim()
    .split('\n');
}

const storageNode = { apiVersion: 'stowage.dev/v1alpha1', kind: 'StorageNode' };

/** A folder for a shell: the script as `_stowage`, `stowage` on the PATH, and a cluster with two pods and a disk. */
async function shellFolder(shell: string): Promise<{ folder: string; env: NodeJS.ProcessEnv }> {
  const folder = temporaryFolder();
  const up = await StowageProcess.up(join(folder, 'data'), '--controllers', 'none');
  const client = new ApiClient(up.access);
  for (const name of ['web-0', 'web-1']) {
    const body = { metadata: { name }, spec: { containers: [{ name: 'main', image: 'pause' }] } };
    expect((await client.call('POST', '/api/v1/namespaces/default/pods', { body })).status).toBe(201);
  }
  const body = { metadata: { name: 'n1' }, spec: { disks: { ssd: { path: '/disks/ssd' } } } };
  const nodesPath = '/apis/stowage.dev/v1alpha1/storagenodes';
  expect((await client.call('POST', nodesPath, { body: { ...body, ...storageNode } })).status).toBe(201);
  const { stdout } = await callStowage('completion', shell);
  writeFileSync(join(folder, '_stowage'), stdout);
  const program = builtProgram(new URL('../../src/cli/main.ts', import.meta.url));
  writeFileSync(join(folder, 'stowage'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
    mode: 0o755,
  });
  const PATH = `${folder}:${process.env.PATH}`;
  const caches = { XDG_CACHE_HOME: compiledCodeFolder() };
  return { folder, env: { PATH, HOME: folder, TERM: 'xterm', KUBECONFIG: up.kubeconfig, ...caches } };
}

test('completion for an unknown shell is rejected by name', async () => {
  const { status, stderr } = await callInProcess('completion', 'ksh');
  expect([status, stderr]).toEqual([
    2,
    'stowage: there is no completion for "ksh"; it must be bash, zsh or fish; see stowage completion --help\n',
  ]);
});

function isInstalled(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'exit 0'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
