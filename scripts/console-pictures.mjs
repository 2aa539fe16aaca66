/**
 * Takes the pictures of docs/console.md: starts the demo and opens each view in Chromium, light and dark. `npm run build` first; then
 * `node scripts/console-pictures.mjs [FOLDER [VIEW...]]`. CHROMIUM names another browser than Debian's.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist/cli/main.js');
const [given, ...only] = process.argv.slice(2);
const folder = resolve(given ?? join(root, 'docs', 'pictures'));
const data = mkdtempSync(join(tmpdir(), 'stowage-pictures-'));
const programs = [];

/** Starts a command that serves the console, and returns its address. */
async function start(...args) {
  const program = spawn(process.execPath, [main, ...args], { cwd: data });
  programs.push(program);
  return await new Promise((found, failed) => {
    let text = '';
    program.stderr.on('data', (part) => {
      text += part;
      const match = /https:\S+token=\S+/.exec(text);
      if (match !== null) found(match[0]);
    });
    program.once('exit', () => failed(new Error(text)));
  });
}

async function takeAll(page, url, views) {
  await page.goto(url);
  await page.getByText(/^Live$|^Frozen/).waitFor();
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [name, hash, act] of views.filter(([name]) => only.length === 0 || only.includes(name))) {
      await page.evaluate(`location.hash = '#/'`);
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.waitForTimeout(500);
      await act?.(page);
      await page.locator('main').getByText('Loading…').first().waitFor({ state: 'hidden' });
      // Nothing is underlined because the pointer happens to be there.
      await page.mouse.move(1, 799);
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(folder, `console-${name}-${scheme}.png`), fullPage: true });
    }
  }
}

/** One comes every ten seconds. */
async function enoughSamples(page) {
  await page.getByText(/^([7-9]|\d\d) samples/).waitFor({ timeout: 120_000 });
}

/** It has rejected a request. */
async function openFullDisk(page) {
  await page.getByRole('gridcell', { name: 'node-b1/archive' }).click();
  await page.getByText('InsufficientStorage').first().waitFor();
}

async function showPlan(page) {
  await page.getByLabel('Value').fill('node/node-b2');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('region', { name: 'Plan' }).waitFor();
}

try {
  mkdirSync(folder, { recursive: true });
  const live = await start('up', '--demo', '--port', '0', '--data', join(data, 'up'));
  const context = await chromium.launchPersistentContext(join(data, 'profile'), {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 800 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  });
  const page = await context.newPage();
  await takeAll(page, live, [
    ['overview', '#/overview'],
    ['map', '#/map/node-b2'],
    ['queue', '#/queue'],
    ['pod', '#/pod/demo%2Fqueue-0'],
    ['what-if', '#/what-if', showPlan],
    ['disks', '#/disks', openFullDisk],
    ['capacity', '#/capacity', enoughSamples],
  ]);
  await context.close();
} finally {
  for (const program of programs) {
    const isEnded = new Promise((ended) => program.once('exit', ended));
    if (program.exitCode === null && program.kill('SIGTERM')) await isEnded;
  }
  rmSync(data, { recursive: true, force: true });
}
