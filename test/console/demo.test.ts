import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { isReason } from '../../src/kube/api-error.ts';
import { deployments, nodes, pods } from '../../src/kube/resources.ts';
import { diskVolumes } from '../../src/kube/stowage/volume.ts';
import { isRetry } from '../kubernetes/testing/is-retry.ts';
import { projectRoot } from '../project-root.ts';
import { accessibilityProblems } from './accessibility.ts';
import { type Browser, hasBrowser, openBrowser, showFocusedView, showView } from './browser.ts';
import { clusterOf, createPod } from './demo-cluster.ts';
import { keyboardProblems } from './keyboard.ts';
import { type ConsoleProgram, startConsole } from './stowage-program.ts';
import { textOfView } from './view-texts.ts';

/** The row of the disk that has rejected a request (examples/demo/5-disks.yaml). */
const fullDisk = 'node-b1/archive 3f8d21c6-9c07-4b35-b1a6-5f60d7e8c914';
/** The row of the disk that does not answer. */
const silentDisk = 'node-b1/usb 7c2a90f1-5e4d-4a83-9b16-c8f2d3e4a507';

/** Every view of the console of `up --demo`, in Chromium. */
describe.skipIf(!hasBrowser)('the console of up --demo', () => {
  let program: ConsoleProgram;
  let browser: Browser;

  beforeAll(async () => {
    // Without an agent on the disk of this machine, whose free bytes change all the time.
    const agents = ['--controllers', '*,-disk-agent'];
    program = await startConsole(
      ...['up', '--demo', '--console-write', ...agents, '--port', '0', '--data', '{folder}/data'],
    );
    browser = await openBrowser();
    await browser.page.goto(program.consoleUrl);
    await browser.page.getByText('Live', { exact: true }).waitFor();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await program?.[Symbol.asyncDispose]();
  });

  const views: readonly (readonly [hash: string, ...texts: string[]])[] = [
    [
      '#/overview',
      'pods running',
      'Storage by class',
      'zone-a',
      'no available volume on this node fits the claim',
      '1 rejected, 1 pending',
    ],
    ['#/map/node-a1', 'node-a1', 'drive node-a1-', 'demo/'],
    ['#/queue', '4 pods are pending, for 4 causes.', 'Create a PersistentVolume of 800Gi', 'demo/too-big'],
    ['#/pods', 'demo/too-hungry', 'Filter pods'],
    [
      '#/pod/demo%2Ftoo-big',
      'Pod demo/too-big fits on none of 6 nodes',
      'Why nowhere',
      'Decision',
      'waiting for',
    ],
    ['#/pod/demo%2Fqueue-0', 'Why node-', 'Scores of the nodes that fit', 'claims are bound', 'Running'],
    ['#/volumes', 'Bound', 'Available'],
    ['#/reservations', 'Promised bytes of pools', 'demo/', 'GiB'],
    [
      '#/disks',
      'node-a1/default',
      'Ready',
      'Volumes that wait for a place',
      '20Gi free, 80Gi requested: 60Gi missing',
    ],
    [
      `#/disks/${encodeURIComponent(fullDisk)}`,
      '2 replicas, 0 images, 0 pending, 1 rejected',
      'replica films-r0',
      'rejected, lacks 60 GiB: InsufficientStorage',
    ],
    [
      `#/disks/${encodeURIComponent(silentDisk)}`,
      'the disk does not answer: input/output error',
      '0 replicas, 1 image, 1 pending, 0 rejected',
      'image debian',
    ],
    ['#/capacity', 'samples', 'drives', 'local-disks'],
    ['#/what-if', 'Asking changes nothing.', 'Show the plan'],
  ];

  test.each(views)(
    '%s shows the cluster and axe finds nothing serious, light and dark',
    async (hash, ...texts) => {
      const { page } = browser;
      await showView(page, hash);
      for (const text of texts) await page.getByText(text).first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page)).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      expect(browser.problems).toEqual([]);
    },
  );

  test.each([360, 3840])('nothing is wider than a screen of %i pixels', async (width) => {
    const { page } = browser;
    await page.setViewportSize({ width, height: 800 });
    for (const [hash, text] of views) {
      await showView(page, hash);
      await page.getByText(text!).first().waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, hash).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test('a narrow screen shows the whole reason of a rejected request', async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 360, height: 800 });
    await showView(page, `#/disks/${encodeURIComponent(fullDisk)}`);
    const reason = page
      .getByRole('list', { name: 'Rejected requests' })
      .getByText('rejected, lacks 60 GiB: InsufficientStorage');
    await reason.waitFor();
    const box = await reason.boundingBox();
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(box!.x + box!.width).toBeLessThanOrEqual(360);
  });

  test('the map has a table with the same facts', async () => {
    const { page } = browser;
    await showView(page, '#/map');
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('gridcell', { name: 'node-b1', exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter nodes' }).fill('zone-c');
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    await page.getByRole('button', { name: 'Drawing' }).click();
  });

  test('what-if shows the plan, and an error that says what is wrong', async () => {
    const { page } = browser;
    await showView(page, '#/what-if');
    await page.getByLabel('Value').fill('node/node-b2');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByRole('grid', { name: 'Moves' }).getByText('demo/').first().waitFor();
    // The headings of `stowage plan`.
    await plan.getByRole('heading', { name: 'Moves', exact: true }).waitFor();
    await page.getByLabel('Value').fill('node/nowhere');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('alert').getByText('nowhere').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // The browser logs the answer 400.
    browser.problems.length = 0;
  });

  test.each(views)('%s can be operated by keyboard', async (hash, text) => {
    const { page } = browser;
    await showView(page, hash);
    await page.getByText(text!).first().waitFor();
    await page.locator('main').getByText('Loading…').first().waitFor({ state: 'hidden' });
    expect(await keyboardProblems(page)).toEqual([]);
  });

  test('lists and the map are operated by arrow keys', async () => {
    const { page } = browser;
    await showFocusedView(page, '#/pods');
    const grid = page.getByRole('grid', { name: 'Pods' });
    await grid.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const second = await page.locator('.row.active[aria-rowindex="3"] .cell').first().textContent();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Pod ${second}` }).waitFor();
    // The focus is at the beginning of the new view.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await showFocusedView(page, '#/map');
    const map = page.getByRole('application');
    await map.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('complementary', { name: 'Node node-' }).waitFor();
  });

  test('the overview prints on one page, without what is only for the screen', async () => {
    const { page } = browser;
    await showView(page, '#/overview');
    await page.getByText('no available volume on this node fits the claim').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('button').count()).toBe(0);
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'screen' });
  });

  test('a change of the cluster appears without loading the page again', async ({ task }) => {
    const { page } = browser;
    const name = isRetry(task) ? 'next-newcomer' : 'newcomer';
    await showView(page, '#/pods');
    await page.getByRole('searchbox').fill(`demo/${name}`);
    await page.getByText('There is no such pod.').waitFor();
    await createPod(program, 'demo', name);
    await page.getByRole('gridcell', { name: `demo/${name}` }).waitFor();
    await page.getByRole('gridcell', { name: 'running' }).waitFor();
    await showView(page, `#/pod/demo%2F${name}`);
    // This process has seen the steps happen, so their times are exact.
    await page
      .getByText(/^\+ \d+ ms$/)
      .first()
      .waitFor();
  });

  test('with --console-write, the steps of a plan are carried out one by one, below the plan', async ({
    task,
  }) => {
    const { page } = browser;
    const name = isRetry(task) ? 'next-mover' : 'mover';
    await using cluster = await clusterOf(program);
    const show = async (kind: string, value: string) => {
      await showView(page, '#/overview');
      await showView(page, '#/what-if');
      await page.getByLabel('Change').selectOption({ label: kind });
      expect(await page.getByRole('list', { name: 'Steps' }).count()).toBe(0);
      await page.getByLabel('Value').fill(value);
      await page.getByRole('button', { name: 'Show the plan' }).click();
      await page.getByText('Nothing has been done yet.').waitFor();
    };
    const press = async (button: string | RegExp, result: string) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('list', { name: 'Steps' }).getByText(result, { exact: true }).last().waitFor();
    };
    const node = await nodeOfNewDeployment(cluster, name);
    const isCordoned = async () =>
      (await cluster.resource(nodes).get({ name: node })).spec?.unschedulable === true;

    await show('Drain', `node/${node}`);
    const evict = /^Evict \d+ pods? of node/;
    expect(await page.getByRole('button', { name: evict }).isDisabled()).toBe(true);
    expect(await isCordoned()).toBe(false);
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(`Cordon node ${node}`, 'done');
    expect(await isCordoned()).toBe(true);
    await press(evict, 'done');
    // It is created again elsewhere, as the plan says.
    const others = async () => (await nodesOf(cluster, name)).filter((each) => each !== '' && each !== node);
    await expect.poll(others).toHaveLength(1);
    await press(`Uncordon node ${node}`, 'taken back');
    expect(await isCordoned()).toBe(false);

    await show('Replicas', `deploy/demo/${name}=2`);
    await press(`Scale Deployment demo/${name} to 2`, 'done');
    await expect.poll(() => nodesOf(cluster, name)).toHaveLength(2);
    expect(browser.problems).toEqual([]);
  });

  test('a snapshot, opened as a file, says the same as the live page in every view', async () => {
    const file = join(program.folder, 'state.json');
    const kubeconfig = join(program.folder, 'data/kubeconfig');
    await createVolumeOnDisks(program);
    const { page } = browser;
    await showView(page, '#/disks');
    await page
      .getByRole('gridcell', { name: /^1 GiB of 200 GiB/ })
      .nth(1)
      .waitFor();
    const waiting = page.getByRole('list', { name: 'Volumes that wait' }).getByRole('listitem');
    await waiting.filter({ hasText: 'too-large' }).getByText('disks fits').waitFor();
    const { stdout } = await stowage('snapshot', file, '--kubeconfig', kubeconfig);
    expect(stdout).toMatch(/^\d+ objects of https:\S+ are in \S+state\.json\n$/);
    const { metadata, items } = JSON.parse(await readFile(file, 'utf8'));
    expect(metadata['stowage.dev/taken-at']).toMatch(/^\d{4}-/);
    expect(JSON.stringify(items)).not.toContain('managedFields');

    await using frozen = await startConsole('console', file);
    const other = await browser.context.newPage();
    await other.goto(frozen.consoleUrl);
    await other.getByText(/^Frozen: \d{4}-/).waitFor();
    expect(await other.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    // What no object stores is in the file, too: capacity over time, and when exactly the console saw the steps of a pod.
    await showView(other, '#/capacity');
    await other.getByText(/^([2-9]|\d\d+) samples from/).waitFor();
    expect(await other.locator('.hidden-note').count()).toBe(0);
    await showView(other, '#/pod/demo%2Fnewcomer');
    await other
      .getByText(/^\+ \d+ ms$/)
      .first()
      .waitFor();
    const disk = await diskOf(page);
    for (const hash of [...views.map(([hash]) => hash), `#/disks/${encodeURIComponent(disk)}`]) {
      // Answers arrive after the rows, on either page.
      await vi.waitFor(
        async () => expect(await textOfView(page, hash), hash).toBe(await textOfView(other, hash)),
        { timeout: 240_000, interval: 200 },
      );
    }
    expect(await textOfView(other, `#/disks/${encodeURIComponent(disk)}`)).toContain('replica on-disks-r');
    // Nothing can be carried out in a file.
    await textOfView(other, '#/what-if');
    expect(await other.getByRole('button', { name: 'Cordon' }).count()).toBe(0);
    await other.close();
  });

  test('the page saves the same snapshot, and files without a record say that capacity over time is missing', async () => {
    const { page } = browser;
    await showView(page, '#/overview');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save a snapshot' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^stowage-\d{4}-\d\d-\d\dT[\d-]+\.json$/);
    const saved = JSON.parse(await readFile(await download.path(), 'utf8'));
    const record = saved.items.at(-1);
    expect(record.kind).toBe('ConsoleRecord');
    expect(record.history.timesMs.length).toBeGreaterThan(1);
    const file = join(program.folder, 'without.json');
    await writeFile(file, JSON.stringify({ ...saved, items: saved.items.slice(0, -1) }));
    await using frozen = await startConsole('console', file);
    const other = await browser.context.newPage();
    await other.goto(`${frozen.consoleUrl}#/capacity`);
    await other.getByText('These files have no capacity over time').waitFor();
    await other.getByText(/^1 sample, at/).waitFor();
    await other.close();
  });
});

const stowage = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(projectRoot, 'dist/cli/main.js'), ...args]);

/** The node of the only pod of a new Deployment, which may go anywhere. */
async function nodeOfNewDeployment(cluster: Cluster, name: string): Promise<string> {
  const labels = { app: name };
  await cluster.resource(deployments).create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'demo', name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'example.invalid/none' }] },
      },
    },
  });
  await expect.poll(() => nodesOf(cluster, name)).toEqual([expect.stringMatching(/^node-/)]);
  return (await nodesOf(cluster, name))[0]!;
}

/** The nodes of the pods that are not being deleted; empty for a pod that waits. */
async function nodesOf(cluster: Cluster, app: string): Promise<readonly string[]> {
  const { items } = await cluster.resource(pods).list({ namespace: 'demo', labelSelector: `app=${app}` });
  return items
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ spec }) => spec?.nodeName ?? '');
}

/** One whose replicas are on the disks of two nodes, and one that fits on none. */
async function createVolumeOnDisks(program: ConsoleProgram): Promise<void> {
  await using cluster = await clusterOf(program);
  for (const [name, size] of [
    ['on-disks', 2 ** 30],
    ['too-large', 2 ** 50],
  ] as const)
    await cluster
      .resource(diskVolumes)
      .create({
        apiVersion: 'stowage.dev/v1alpha1',
        kind: 'Volume',
        metadata: { name },
        spec: { size, numberOfReplicas: 2 },
      })
      .catch((error: unknown) => {
        // They are there if the test is tried again.
        if (!isReason(error, 'AlreadyExists')) throw error;
      });
}

/** The id of a disk's row. */
async function diskOf(page: Page): Promise<string> {
  const state = (await page.evaluate(
    "fetch('/console/data/state').then((answer) => answer.text())",
  )) as string;
  const [, id = ''] = /"id":"(node-a1\/default [^"]*)"/.exec(state) ?? [];
  return id;
}
