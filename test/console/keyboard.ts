import type { Page } from 'playwright-core';

/**
 * Presses Tab from the beginning of the page, and returns what is wrong: elements that are operated by a pointer and were not reached, and those that
 * do not show that they have the focus.
 */
export async function keyboardProblems(page: Page): Promise<readonly string[]> {
  // A new view takes the focus after it was painted, by an effect that was scheduled in this way before this call.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  const count = (await page.evaluate(`(() => {
    const visible = (element) => element.getClientRects().length > 0;
    const all = [...document.querySelectorAll(
      'a[href], button:not(:disabled), input, select, summary, [tabindex="0"]')].filter(visible);
    window.keyboardTest = { all, reached: new Set(), unseen: [] };
    document.activeElement?.blur();
    document.addEventListener('focusin', ({ target }) => {
      window.keyboardTest.reached.add(target);
      const { outlineStyle } = getComputedStyle(target);
      if (outlineStyle === 'none') window.keyboardTest.unseen.push(target);
    });
    getSelection().setPosition(document.body, 0);
    return all.length;
  })()`)) as number;
  for (let at = 0; at < count + 2; at += 1) await page.keyboard.press('Tab');
  return (await page.evaluate(`(() => {
    const { all, reached, unseen } = window.keyboardTest;
    const text = (element) => element.outerHTML.slice(0, 120);
    return [
      ...all.filter((element) => !reached.has(element)).map((element) => 'not reached: ' + text(element)),
      ...unseen.map((element) => 'focus not visible: ' + text(element)),
    ];
  })()`)) as readonly string[];
}
