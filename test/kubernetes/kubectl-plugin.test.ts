/** `kubectl stowage`, from the archive that Krew would install; and whether our packages have known vulnerabilities. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../project-root.ts';
import { lacks } from './vitest-beds.ts';

const run = promisify(execFile);

describe.skipIf(lacks('kubectl') || process.platform !== 'linux')('the kubectl plugin', () => {
  test('is packed with its hash, and kubectl finds it', { timeout: 900_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-plugin-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const flags = ['--output', folder, '--platform', `linux/${architecture}`];
    await run(process.execPath, [join(projectRoot, 'scripts/krew.mjs'), ...flags], { cwd: projectRoot });
    const { spec } = parse(readFileSync(join(folder, 'stowage.yaml'), 'utf8'));
    expect(spec.platforms).toHaveLength(1);
    const [{ uri, sha256, bin }] = spec.platforms;
    const archive = join(folder, uri.slice(uri.lastIndexOf('/') + 1));
    expect(createHash('sha256').update(readFileSync(archive)).digest('hex')).toBe(sha256);

    // As Krew does: unpacked, and a link to the program on the PATH.
    const [store, path] = [join(folder, 'store'), join(folder, 'bin')];
    for (const each of [store, path]) mkdirSync(each);
    await run('tar', ['-xzf', archive, '-C', store]);
    symlinkSync(join(store, bin), join(path, 'kubectl-stowage'));
    const env = {
      HOME: folder,
      PATH: [path, dirname(process.execPath), ...systemPath()].join(delimiter),
      NO_COLOR: '1',
    };
    const kubectl = inject('kubernetesPrograms').kubectl!;
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    const { stdout } = await run(kubectl, ['stowage', '--version'], { env, cwd: folder });
    expect(stdout.trim()).toBe(version);
    expect((await run(kubectl, ['plugin', 'list'], { env, cwd: folder })).stdout).toContain(
      'kubectl-stowage',
    );
    // A command that needs a cluster says so, in its own words.
    const refused = run(kubectl, ['stowage', 'explain', '--kubeconfig', '/nonexistent'], {
      env,
      cwd: folder,
    });
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('/nonexistent') });
  });
});

/** Without the folders that npm adds, of this project and of those around it: they may have a kubectl-stowage of their own. */
function systemPath(): readonly string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'));
}

test('npm knows of no vulnerability in what we ship', { timeout: 600_000 }, async (context) => {
  const { stdout } = await run('npm', ['audit', '--omit=dev', '--json'], { cwd: projectRoot }).catch(
    (error: { readonly stdout: string }) => error,
  );
  const report = JSON.parse(stdout) as {
    readonly error?: { readonly summary?: string };
    readonly message?: string;
    readonly metadata?: { readonly vulnerabilities: { readonly total: number } };
  };
  // Mirrors of the registry often lack this service; npm's own has it.
  if (report.metadata === undefined)
    context.skip(`npm audit did not answer: ${report.message ?? report.error?.summary}`);
  expect(report.metadata?.vulnerabilities.total).toBe(0);
});
