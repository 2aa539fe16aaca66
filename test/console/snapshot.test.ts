import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { hasBrowser, openBrowser, showView } from './browser.ts';
import { startConsole } from './stowage-program.ts';

const stowage = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(projectRoot, 'dist/cli/main.js'), ...args]);

describe.skipIf(!hasBrowser)('a snapshot', () => {
  test('is written without secrets, and the console shows it as the cluster was', async () => {
    await using program = await startConsole('up', '--demo', '--port', '0', '--data', '{folder}/data');
    const file = join(program.folder, 'state.json');
    const kubeconfig = join(program.folder, 'data/kubeconfig');
    const { stdout } = await stowage('snapshot', file, '--kubeconfig', kubeconfig);
    expect(stdout).toMatch(/^\d+ objects of https:\S+ are in \S+state\.json\n$/);
    const { metadata, items } = JSON.parse(await readFile(file, 'utf8'));
    expect(metadata['stowage.dev/taken-at']).toMatch(/^\d{4}-/);
    expect(items.length).toBeGreaterThan(50);
    expect(JSON.stringify(items)).not.toContain('managedFields');

    await using frozen = await startConsole('console', file);
    await using browser = await openBrowser();
    const { page } = browser;
    await page.goto(frozen.consoleUrl);
    await page.getByText(/^Frozen: \d{4}-/).waitFor();
    await showView(page, '#/queue');
    await page.getByText('4 pods are pending, for 4 causes.').waitFor();
    await showView(page, '#/pod/demo%2Ftoo-big');
    await page.getByText('Pod demo/too-big fits on none of 6 nodes').waitFor();
    await showView(page, '#/disks');
    await page.getByText('node-a1/default').waitFor();
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    expect(browser.problems).toEqual([]);
  });
});
