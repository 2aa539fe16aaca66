import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityProblems } from './accessibility.ts';
import { type Browser, hasBrowser, openBrowser, showView } from './browser.ts';
import { type ConsoleProgram, startConsole } from './stowage-program.ts';

/** Every view of the console of `up --demo`, in Chromium. */
describe.skipIf(!hasBrowser)('the console of up --demo', () => {
  let program: ConsoleProgram;
  let browser: Browser;

  beforeAll(async () => {
    program = await startConsole('up', '--demo', '--port', '0', '--data', '{folder}/data');
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
    ['#/reservations', 'Promised bytes of pools', 'demo/'],
    ['#/disks', 'node-a1/default', 'Ready'],
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
    expect(await plan.getByRole('button', { name: 'Cordon' }).count()).toBe(0);
    await page.getByLabel('Value').fill('node/nowhere');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('alert').getByText('nowhere').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    // The browser logs the answer 400.
    browser.problems.length = 0;
  });

  test('everything can be reached by keyboard', async () => {
    const { page } = browser;
    await showView(page, '#/pods');
    const grid = page.getByRole('grid', { name: 'Pods' });
    await grid.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const second = await page.locator('.row.active .cell').first().textContent();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Pod ${second}` }).waitFor();
    // The focus is at the beginning of the new view.
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await showView(page, '#/map');
    const map = page.getByRole('application');
    await map.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('complementary', { name: 'Node node-' }).waitFor();
  });

  test('a change of the cluster appears without loading the page again', async () => {
    const { page } = browser;
    await showView(page, '#/pods');
    await page.getByRole('searchbox').fill('newcomer');
    await page.getByText('There is no such pod.').waitFor();
    await applyPod(program, 'newcomer');
    await page.getByRole('gridcell', { name: 'demo/newcomer' }).waitFor();
    await page.getByRole('gridcell', { name: 'running' }).waitFor();
    await showView(page, '#/pod/demo%2Fnewcomer');
    // This process has seen the steps happen, so their times are exact.
    await page
      .getByText(/^\+ \d+ ms$/)
      .first()
      .waitFor();
  });
});

/** Through the API, with the admin's kubeconfig. */
async function applyPod({ folder }: ConsoleProgram, name: string): Promise<void> {
  const { KubernetesCluster } = await import('../../src/cluster/kubernetes/client.ts');
  const { realClock } = await import('../../src/runtime/clock.ts');
  const { systemRandom } = await import('../../src/runtime/random.ts');
  const { pods } = await import('../../src/kube/resources.ts');
  const kubeconfig = `${folder}/data/kubeconfig`;
  await using cluster = await KubernetesCluster.connect({
    clock: realClock,
    random: systemRandom,
    env: {},
    kubeconfig,
  });
  await cluster.resource(pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'demo' },
    spec: { containers: [{ name: 'main', image: 'example.invalid/none' }] },
  });
}
