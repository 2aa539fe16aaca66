import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds serious or critical, one line each. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // As a debugger does it: the page's own policy allows no script from elsewhere.
  await page.evaluate(await axeSource);
  const found = (await page.evaluate('axe.run(document).then(({ violations }) => violations)')) as Found[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}
