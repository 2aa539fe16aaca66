import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callStowage, temporaryFolder } from './stowage-process.ts';

/** What a real bash offers for the last of these words. The marks of `complete` are asked for as well. */
function offered(script: string, words: readonly string[], cwd: string): readonly string[] {
  const program = `
    source "$1"; shift
    complete -p stowage | grep -q -- '-F _stowage' || exit 9
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stowage 2>/dev/null
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--noprofile', '--norc', '-c', program, 'bash', script, ...words];
  const printed = execFileSync('bash', args, { encoding: 'utf8', cwd, env: { PATH: process.env.PATH } });
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
  test('offers commands, flags, values and paths where they may stand', async () => {
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
      ['stowage explain ', ['pod', 'claim', '-n', '--namespace', '--kubeconfig', '--context', '--from']],
      ['stowage explain -n shop cl', ['claim']],
      ['stowage explain pod x --pro', ['--profile']],
      ['stowage explain pod x --profile up', ['upstream']],
      ['stowage explain -o n', []],
      ['stowage up --log-level w', ['warn']],
      ['stowage up --data ca', ['capacity']],
      ['stowage up --controllers pv', ['pv-binder']],
      ['stowage upgrade-zonal-pvs --dry-run = f', ['false']],
      ['stowage upgrade-zonal-pvs --dry-run --ku', ['--kubeconfig']],
      ['stowage capacity --kubeconfig ad', ['admin conf.yaml']],
      ['stowage completion z', ['zsh']],
      ['stowage nonsense --', []],
    ];
    for (const [line, expected] of cases) {
      const found = offered(script, line.split(' '), folder);
      expect([line, found.slice(0, Math.max(expected.length, 1))]).toEqual([line, expected]);
    }
  });

  test('is loaded without a file', async () => {
    const { stdout } = await callStowage('completion', 'bash');
    const program = 'source <(printf %s "$1"); complete -p stowage';
    expect(execFileSync('bash', ['--norc', '-c', program, 'bash', stdout], { encoding: 'utf8' })).toBe(
      'complete -F _stowage stowage\n',
    );
  });
});

describe.each(['zsh', 'fish'])('completion in %s', (shell) => {
  test.skipIf(!isInstalled(shell))('is read by the shell, where it is installed', async () => {
    const script = await scriptFile(shell);
    execFileSync(shell, ['-n', script]);
  });
});

test('completion for another shell is refused by name', async () => {
  const { status, stderr } = await callStowage('completion', 'ksh');
  expect([status, stderr]).toEqual([
    2,
    'stowage: there is no completion for "ksh"; ask for bash, zsh or fish; see stowage --help\n',
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
