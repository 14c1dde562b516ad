import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../controller/stage.ts';
import { deploy } from '../deployed.ts';
import { closed, inBrowser, launched, type Opened, opened, violations } from './browser.ts';

/** Pages and the program that serves them: one that ends and is started again, and a browser with many tabs. */

const [title, isSkipped] = inBrowser('tabs of the dashboard in Chromium');

(isSkipped ? describe.skip : describe)(title, () => {
  let browser: Browser;
  let stage: Stage;
  let shown: Opened;
  let page: Page;

  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
    await deploy(stage);
    shown = await opened(stage, browser);
    ({ page } = shown);
  });
  afterEach(() => closed(shown));

  const says = (where: Locator, text: string): Promise<void> => where.filter({ hasText: text }).first().waitFor();
  const stateOf = (tab: Page): Locator => tab.getByRole('status');
  const tile = (tab: Page): Locator => tab.locator('[data-node="a"]');

  test('a program that has ended is said to be gone, and one of another token is not taken for it', async () => {
    const { port } = new URL(shown.url);
    shown.program.child.kill('SIGINT');
    expect(await shown.program.ended).toEqual([130, null]);
    await says(stateOf(page), 'kubectl brupop dashboard does not answer; trying again');
    expect(await tile(page).isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
    shown = { ...shown, program: await shown.reached.start('dashboard', '--no-open', '--port', port) };
    await says(stateOf(page), 'Another token is needed');
    await shown.program.said('Ctrl-C ends it.');
    // In the same tab, where what comes after # alone is another.
    await page.goto(/http\S+/.exec(shown.program.out)?.[0] ?? '');
    await says(stateOf(page), 'Live');
    expect(page.url()).not.toContain('#');
  });

  test('an address for once opens one page, which keeps the token over a reload, and no second one', async () => {
    await page.route('**/api/token', (route) =>
      route.fulfill({ body: new URL(shown.url).hash.replace('#token=', '') }),
    );
    await page.evaluate('sessionStorage.clear()');
    await page.goto('about:blank');
    await page.goto(shown.url.replace('#token=', '#ticket='));
    await says(stateOf(page), 'Live');
    expect(page.url()).not.toContain('#');
    await page.unroute('**/api/token');
    await page.reload();
    await says(stateOf(page), 'Live');
    await page.goto('about:blank');
    await page.goto(shown.url.replace('#token=', '#ticket='));
    await says(stateOf(page), 'Another token is needed');
  });

  test('hidden tabs close their stream, so that a browser has connections left, and catch up when they are shown again', async () => {
    const first = page;
    for (let tab = 0; tab < 7; tab++) {
      await seen(page, false);
      page = await page.context().newPage();
      await page.goto(shown.url);
      await says(stateOf(page), 'Live');
    }
    await tile(page).click();
    await says(page.getByRole('region', { name: 'a', exact: true }).getByRole('list'), 'UpdateStarted');
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await seen(page, false);
    await seen(first, true);
    await says(tile(first), 'draining');
    await says(stateOf(first), 'Live');
  });

  /** A browser without a screen shows all tabs at once. */
  const seen = (tab: Page, isSeen: boolean): Promise<void> =>
    tab.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isSeen} });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
});
