import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRetry } from '../kubernetes/testing/is-retry.ts';
import { type Browser, hasBrowser, openBrowser, showView } from './browser.ts';
import { CuttableProxy } from './cuttable-proxy.ts';
import { createPod } from './demo-cluster.ts';
import { type ConsoleProgram, startConsole } from './stowage-program.ts';

const options = ['--data', '{folder}/data', '--controllers', 'none'];

describe.skipIf(!hasBrowser)('the connection of the page', () => {
  let program: ConsoleProgram;
  let proxy: CuttableProxy;
  let browser: Browser;

  beforeAll(async () => {
    program = await startConsole('up', '--port', '0', ...options);
    proxy = await CuttableProxy.start(program.port);
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await program?.[Symbol.asyncDispose]();
  });

  test('a person signs in with a form, and out again', async () => {
    const { page } = browser;
    const token = new URL(program.consoleUrl).searchParams.get('token') ?? '';
    const signIn = async (given: string) => {
      await page.getByLabel('Token').fill(given);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await browser.context.clearCookies();
    await page.goto(`https://127.0.0.1:${proxy.port}/console/`);
    await signIn('nonsense');
    await page.getByText('does not accept this token').waitFor();
    await signIn(token);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(page.url()).not.toContain('token');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(token);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  /** True if the page was not loaded again since it was marked. */
  const isSamePage = async () => await browser.page.evaluate('window.isMarked === true');
  const rowNames = async () =>
    await browser.page.getByRole('row').locator('.cell:first-child').allTextContents();
  /** The objects that all tests created, also in a first attempt. */
  const created: string[] = [];
  const create = async (name: string) => {
    await createPod(program, 'default', name);
    created.push(`default/${name}`);
  };
  const expectedRows = () => ['Pod', ...created.toSorted()];

  test('what happens while it is cut appears when it is back, once, and the page says since when it was lost', async ({
    task,
  }) => {
    const { page } = browser;
    const [before, whileCut] = isRetry(task) ? ['before-2', 'while-cut-2'] : ['before', 'while-cut'];
    proxy.restore();
    await page.evaluate('window.isMarked = true');
    await showView(page, '#/pods');
    await create(before);
    await page.getByRole('gridcell', { name: `default/${before}`, exact: true }).waitFor();
    const rowsBefore = expectedRows();

    proxy.cut();
    await page
      .getByRole('alert')
      .getByText(/The connection to the server was lost at \d{4}-\d\d-\d\d \d\d:/)
      .waitFor();
    await page.getByText('Connection lost', { exact: true }).waitFor();
    await create(whileCut);
    expect(await rowNames()).toEqual(rowsBefore);
    // What needs the server says so, and is asked again by itself.
    await showView(page, '#/queue');
    await page.getByText('The server does not answer.').waitFor();
    await showView(page, '#/pods');

    proxy.restore();
    await page.getByRole('gridcell', { name: `default/${whileCut}`, exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await rowNames()).toEqual(expectedRows());
    await showView(page, '#/queue');
    await page.getByText(`${created.length} pods are pending`).waitFor();
    expect(await isSamePage()).toBe(true);
  });

  test('a server that is started again is followed again', async ({ task }) => {
    const { page } = browser;
    const name = isRetry(task) ? 'after-restart-2' : 'after-restart';
    await showView(page, '#/pods');
    const { port } = program;
    await program.stop();
    await page.getByText('Connection lost', { exact: true }).waitFor();
    const again = options.map((option) => option.replace('{folder}', program.folder));
    await program.start(['up', '--port', String(port), ...again]);
    await create(name);
    await page.getByRole('gridcell', { name: `default/${name}`, exact: true }).waitFor();
    expect(await rowNames()).toEqual(expectedRows());
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await isSamePage()).toBe(true);
    // Failed requests are logged by the browser; nothing but the console was ever asked.
    expect(browser.problems.filter((text) => text.startsWith('a request to'))).toEqual([]);
  });
});
