import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ProgramPaths, providePrograms } from './binaries.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const foreverConfig = fileURLToPath(new URL('testing/forever.config.ts', import.meta.url));

/** A machine with its own cache, and a `go` that records what it should build. */
class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'stowage-binaries-'));
  readonly modules = join(this.folder, 'modules');
  readonly reported: string[] = [];

  constructor() {
    mkdirSync(join(this.folder, 'bin'));
    cpSync(fileURLToPath(new URL('modules', import.meta.url)), this.modules, { recursive: true });
  }

  installGo(build = 'echo program > "$out"'): void {
    const script = `#!/bin/sh
[ "$1" = list ] && { echo a; echo b; exit 0; }
while [ "$1" != -o ]; do shift; done
out=$2
echo "$3" >> ${this.folder}/builds
${build}
`;
    writeFileSync(join(this.folder, 'bin/go'), script, { mode: 0o755 });
  }

  get builds(): readonly string[] {
    const path = join(this.folder, 'builds');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  get env(): NodeJS.ProcessEnv {
    return { PATH: join(this.folder, 'bin'), XDG_CACHE_HOME: join(this.folder, 'cache') };
  }

  provide(
    names: readonly ('etcd' | 'kubectl' | 'kwok')[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<ProgramPaths> {
    const report = (line: string) => this.reported.push(line);
    return providePrograms({ env: { ...this.env, ...env }, report, names, modules: this.modules });
  }
}

function newMachine(): Machine {
  const machine = new Machine();
  onTestFinished(() => rmSync(machine.folder, { recursive: true }));
  return machine;
}

describe('the programs', () => {
  test('are built once, with a message, and then found', async () => {
    const machine = newMachine();
    machine.installGo();
    const first = await machine.provide(['etcd', 'kwok']);
    expect(readFileSync(first.etcd ?? '', 'utf8')).toBe('program\n');
    expect(machine.reported[0]).toBe('etcd: not in the cache, building');
    expect(await machine.provide(['etcd', 'kwok'])).toEqual(first);
    expect(machine.builds).toEqual(['.', 'sigs.k8s.io/kwok/cmd/kwok']);
  });

  test('are built again when a version pin changes, but only those of that module', async () => {
    const machine = newMachine();
    machine.installGo();
    const before = await machine.provide(['etcd', 'kwok']);
    const goMod = join(machine.modules, 'etcd/go.mod');
    writeFileSync(goMod, readFileSync(goMod, 'utf8').replace('server/v3 v3.6.5', 'server/v3 v3.6.6'));
    const after = await machine.provide(['etcd', 'kwok']);
    expect(after.etcd).not.toBe(before.etcd);
    expect(after.kwok).toBe(before.kwok);
    expect(machine.builds).toEqual(['.', 'sigs.k8s.io/kwok/cmd/kwok', '.']);
  });

  test('of another Kubernetes release are built only on request; an unknown release builds nothing', async () => {
    const machine = newMachine();
    machine.installGo();
    const usual = await machine.provide(['etcd', 'kubectl']);
    const older = await machine.provide(['etcd', 'kubectl'], { STOWAGE_KUBERNETES: '1.34' });
    expect(older.etcd).toBe(usual.etcd);
    expect(older.kubectl).not.toBe(usual.kubectl);
    await expect(machine.provide(['kubectl'], { STOWAGE_KUBERNETES: '1.33' })).rejects.toThrow(
      '1.34, 1.35, 1.36',
    );
    expect(machine.builds).toEqual(['.', ...Array(2).fill('k8s.io/kubernetes/cmd/kubectl')]);
  });

  test('are built once if several processes need them at the same time', async () => {
    const machine = newMachine();
    machine.installGo('/bin/sleep 1; echo program > "$out"');
    const asked = await Promise.all([1, 2, 3].map(() => machine.provide(['etcd'])));
    expect(new Set(asked.map(({ etcd }) => etcd)).size).toBe(1);
    expect(machine.builds).toEqual(['.']);
    expect(machine.reported).toContain('etcd: another process is building it, waiting');
  });

  test('are taken from KUBEBUILDER_ASSETS if that folder has them', async () => {
    const machine = newMachine();
    machine.installGo();
    const etcd = join(machine.folder, 'assets/etcd');
    mkdirSync(join(machine.folder, 'assets'));
    writeFileSync(etcd, '');
    chmodSync(etcd, 0o755);
    const paths = await machine.provide(['etcd', 'kwok'], {
      KUBEBUILDER_ASSETS: join(machine.folder, 'assets'),
    });
    expect(paths.etcd).toBe(etcd);
    expect(machine.builds).toEqual(['sigs.k8s.io/kwok/cmd/kwok']);
  });

  test('are missing without Go', async () => {
    const machine = newMachine();
    expect(await machine.provide(['etcd', 'kwok'])).toEqual({});
  });

  test('that fail to build leave no files, and the error has the reason', async () => {
    const machine = newMachine();
    machine.installGo('echo "no such module" >&2; echo half > "$out"; exit 1');
    await expect(machine.provide(['etcd'])).rejects.toThrow(/etcd: go build failed.*no such module/s);
    machine.installGo();
    const { etcd = '' } = await machine.provide(['etcd']);
    expect(readFileSync(etcd, 'utf8')).toBe('program\n');
  });

  test.each([
    { ci: 'true', status: 1, last: '0 passed, 1 failed', message: 'not available: etcd, kube-apiserver' },
    { ci: '', status: 0, last: '0 passed, 0 failed', message: 'Tests that need them are SKIPPED' },
  ])('that are missing skip tests, or fail in CI: CI=$ci', async ({ ci, status, last, message }) => {
    const machine = newMachine();
    const run = await runTests({ ...machine.env, CI: ci });
    expect(run.output).toContain(message);
    expect([run.status, run.output.trimEnd().split('\n').at(-1)]).toEqual([status, last]);
  });
});

function runTests(env: NodeJS.ProcessEnv): Promise<{ readonly status: number; readonly output: string }> {
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', foreverConfig];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, output: `${stderr}${stdout}` });
    });
  });
}
