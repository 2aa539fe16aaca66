import type { Page } from 'playwright-core';
import { showView } from './browser.ts';

/** What a view says, without what depends on the moment at which it is read. */
export async function textOfView(page: Page, hash: string): Promise<string> {
  // Begins with an empty form, also if the view is shown already.
  if (hash === '#/what-if') await showView(page, '#/overview');
  await showView(page, hash);
  if (hash.startsWith('#/map')) await page.getByRole('button', { name: 'Table' }).click();
  if (hash === '#/what-if') {
    await page.getByLabel('Value').fill('node/node-b2');
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('region', { name: 'Plan' }).waitFor();
  }
  const main = page.locator('main');
  await main.getByText('Loading…').first().waitFor({ state: 'hidden' });
  const [text = ''] = await main.allInnerTexts();
  return (
    text
      // Only where something can be carried out.
      .replace(/^Carry out$[\s\S]*/m, '')
      // Only where something runs.
      .replace(/^Save a snapshot\n/m, '')
      .trimEnd()
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
      // Steps that this process has seen have exact times, which a file has not.
      .replaceAll(/^(\+ .*|time unknown)$/gm, 'DURATION')
      .replaceAll(/\b(\d+ (ms|s|m|h|d)\b ?)+/g, 'DURATION')
      .replaceAll(/\d+ times/g, 'N times')
      .replaceAll(/\d+ samples?/g, 'N samples')
  );
}
