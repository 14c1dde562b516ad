import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { closed, inBrowser, launched, type Opened, opened, violations } from './browser.ts';
import { canaryAndProd, MINUTE, nameOf, rolling } from './scene.ts';

/** The nodes of the page line by line, and what is copied from it. */

const [title, isSkipped] = inBrowser('the table and the commands of the dashboard in Chromium');

(isSkipped ? describe.skip : describe)(title, () => {
  let browser: Browser;
  let shown: Opened;
  let page: Page;

  beforeAll(async () => {
    browser = await launched();
    const stage = await rolling({ count: 12, forMs: 5 * MINUTE, policies: canaryAndProd });
    shown = await opened(stage, browser);
    ({ page } = shown);
  });
  afterAll(async () => {
    await closed(shown);
    await browser.close();
  });

  const says = (where: Locator, text: string | RegExp): Promise<void> =>
    where.filter({ hasText: text }).first().waitFor();

  test('the table has every node with its versions, each word of the search narrows it, and narrow it scrolls to no side', async () => {
    await page.getByRole('button', { name: 'Table' }).click();
    const lines = page.locator('table tbody tr');
    expect(await lines.count()).toBe(12);
    const waiting = lines.filter({ hasText: 'waiting' });
    await says(waiting, /1\.0\.0 → 1\.1\.0\s*prod, eu-central-1[abc]\s*WaitingForPolicy/);
    await page.keyboard.press('/');
    await page.keyboard.type('prod WAITING 1b');
    const count = await waiting.filter({ hasText: 'eu-central-1b' }).count();
    expect([await lines.count(), count]).toEqual([3, 3]);
    await page.setViewportSize({ width: 400, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: 'Table' }).click();
    expect(await page.locator('.tile').count()).toBe(12);
  });

  test('a command that the page shows can be copied', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator(`[data-node="${nameOf(0)}"]`).click();
    const copy = page.getByRole('button', { name: `Copy: kubectl brupop why ${nameOf(0)}` });
    await copy.click();
    await says(copy, 'Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`kubectl brupop why ${nameOf(0)}`);
    await page.keyboard.press('Escape');
  });
});
