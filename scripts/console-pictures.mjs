/**
 * Takes the pictures of docs/console.md: starts the demo and opens each view in Chromium, light and dark. `npm run build` first; then
 * `node scripts/console-pictures.mjs [FOLDER]`. CHROMIUM names another browser than Debian's.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'docs', 'pictures'));
const data = mkdtempSync(join(tmpdir(), 'stowage-pictures-'));
const up = spawn(process.execPath, [
  join(root, 'dist/cli/main.js'),
  'up',
  '--demo',
  '--port',
  '0',
  '--data',
  join(data, 'up'),
]);

try {
  const url = await new Promise((found, failed) => {
    let text = '';
    up.stderr.on('data', (part) => {
      text += part;
      const match = /https:\S+token=\S+/.exec(text);
      if (match !== null) found(match[0]);
    });
    up.once('exit', () => failed(new Error(text)));
  });
  mkdirSync(folder, { recursive: true });
  const context = await chromium.launchPersistentContext(join(data, 'profile'), {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 860 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  });
  const page = await context.newPage();
  await page.goto(url);
  const views = [
    ['overview', '#/overview'],
    ['map', '#/map/node-b2'],
    ['queue', '#/queue'],
    ['pod', '#/pod/demo%2Fqueue-0'],
    ['capacity', '#/capacity'],
  ];
  const [, ...only] = process.argv.slice(2);
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [name, hash] of views.filter(([name]) => only.length === 0 || only.includes(name))) {
      await page.goto(url.replace(/\?.*/, hash));
      await page.waitForTimeout(1_500);
      await page.screenshot({ path: join(folder, `console-${name}-${scheme}.png`) });
    }
  }
  await context.close();
} finally {
  up.kill('SIGTERM');
  await new Promise((ended) => up.once('exit', ended));
  rmSync(data, { recursive: true, force: true });
}
