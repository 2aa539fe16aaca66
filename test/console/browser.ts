import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** On a busy machine a page takes long. */
const waitMsMax = 240_000;

/** CI must not pass without a browser. */
export const hasBrowser = existsSync(executablePath);
if (!hasBrowser && process.env.CI === 'true')
  throw new Error(`${executablePath} is missing: apt-get install chromium, or set CHROMIUM`);

export interface Browser extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors that the page has logged or thrown. */
  readonly problems: string[];
}

export interface BrowserOptions {
  readonly width?: number;
  readonly height?: number;
}

/** Chromium with a new, empty profile. It reaches nothing but the console. */
export async function openBrowser({ width = 1280, height = 860 }: BrowserOptions = {}): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'stowage-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    ignoreHTTPSErrors: true,
    viewport: { width, height },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context.setDefaultTimeout(waitMsMax);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const { hostname } = new URL(request.url());
    if (hostname !== '127.0.0.1') problems.push(`a request to ${hostname}`);
  });
  return {
    context,
    page,
    problems,
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Opens a view by its address. The page stays the same, as for a click on a link. */
export async function showView(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** A new view takes the focus after it was painted: what is focused before that loses it again. */
export async function showFocusedView(page: Page, hash: string): Promise<void> {
  const isThere = (await page.evaluate(`location.hash === ${JSON.stringify(hash)}`)) as boolean;
  for (const each of isThere ? ['#/overview', hash] : [hash]) {
    await page.evaluate('document.activeElement.blur()');
    await showView(page, each);
    await page.locator('main:focus').waitFor();
  }
}
