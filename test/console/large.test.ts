import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { largeCluster, waitingPods } from '../../bench/console/large-cluster.ts';
import { accessibilityProblems } from './accessibility.ts';
import { hasBrowser, openBrowser, showFocusedView, showView } from './browser.ts';
import { startConsole } from './stowage-program.ts';

/** Many enough that only what is visible can be drawn; `npm run bench -- console` measures 5,000 nodes and 50,000 volumes. */
const sizes = { nodes: 2_000, volumes: 12_000, pods: 4_000 };

async function writeCluster(path: string): Promise<void> {
  const file = createWriteStream(path);
  file.write('{"apiVersion":"v1","kind":"List","items":[');
  let separator = '';
  for (const object of largeCluster(sizes)) {
    file.write(`${separator}${JSON.stringify(object)}`);
    separator = ',\n';
  }
  file.end(']}');
  await once(file, 'finish');
}

describe.skipIf(!hasBrowser)('the console with a large cluster', () => {
  test('every view shows it, and draws only what is visible', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stowage-large-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'large.json');
    await writeCluster(path);
    await using program = await startConsole('console', path);
    await using browser = await openBrowser();
    const { page } = browser;
    await page.goto(program.consoleUrl);
    await page.getByText(/^Frozen/).waitFor();

    await showFocusedView(page, '#/volumes');
    await page.getByText('12,000').first().waitFor();
    const grid = page.getByRole('grid', { name: 'Volumes' });
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('12001');
    expect(await page.getByRole('row').count()).toBeLessThan(60);
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('gridcell', { name: 'disk-011999' }).waitFor();
    await page.getByRole('searchbox').fill('disk-004242');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);

    await showView(page, '#/map/node-01999');
    await page
      .getByRole('complementary', { name: 'Node node-01999' })
      .getByText('local: 6 volumes')
      .waitFor();
    await showView(page, '#/queue');
    await page.getByText(`${waitingPods} pods are pending`).waitFor();
    await page.getByText('on every node, no available volume on this node fits the claim').first().waitFor();
    await page.getByRole('button', { name: 'Try what would help' }).waitFor();
    await showView(page, '#/pod/load%2Fwaiting-3');
    await page.getByText('2,000 of 2,000 nodes').waitFor();
    await showView(page, '#/overview');
    await page.getByText('volumes of class local').waitFor();
    await showView(page, '#/capacity');
    await page.getByText('volumes of class local').waitFor();
    await showView(page, '#/what-if');
    await page.getByLabel('Value').fill('node/node-00007');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('region', { name: 'Plan' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(browser.problems).toEqual([]);
  });
});
