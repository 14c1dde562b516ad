import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../../runtime/api/release/names.ts';
import { RELEASES_PATH } from '../../../runtime/api/resources.ts';
import { NAMESPACE, PAUSED_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { Stage } from '../../controller/stage.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { until } from '../../in-time.ts';
import { deploy } from '../deployed.ts';
import { closed, inBrowser, launched, type Opened, opened, type Opening, pictured, violations } from './browser.ts';
import { block, canaryAndProd, fail, MINUTE, nameOf, rolling } from './scene.ts';

/** The page in a real browser, of rollouts on the embedded cluster: what it shows, and how people get about in it. */

const [title, isSkipped] = inBrowser('the dashboard in Chromium');

(isSkipped ? describe.skip : describe)(title, () => {
  let browser: Browser;
  let stage: Stage;
  let shown: Opened;
  let page: Page;

  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser.close());

  async function show(options: Opening = {}): Promise<void> {
    shown = await opened(stage, browser, options);
    ({ page } = shown);
  }

  const close = (): Promise<void> => closed(shown);

  const tile = (name: string): Locator => page.locator(`[data-node="${name}"]`);
  const panel = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const says = (where: Locator, text: string | RegExp): Promise<void> =>
    where.filter({ hasText: text }).first().waitFor();
  /** @returns what ends that */
  const refuse = (resource: string, message: string): (() => void) =>
    stage.cluster.disturb(
      { resource, verbs: ['get', 'list'] },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message },
    );

  describe('of two policies half-way', () => {
    beforeAll(async () => {
      const settings = { MAX_CONCURRENT_UPDATE: '4' };
      stage = await rolling({ count: 24, forMs: 33 * MINUTE, policies: canaryAndProd, settings });
      await show();
    });
    afterAll(close);
    afterEach(() => expect(shown.faults).toEqual([]));

    test('every node stands by its policy and zone with its state in words, as status says', async () => {
      const { counts } = await shown.reached.json<{ counts: Record<string, number> }>('status');
      expect(await page.locator('.tile').count()).toBe(24);
      for (const [word, count] of [
        ['up to date', counts['upToDate']],
        ['waiting', counts['waiting']],
      ] as const)
        expect({ word, count: await page.locator('.tile', { hasText: word }).count() }).toEqual({ word, count });
      expect(
        await page.getByRole('list', { name: 'canary, eu-central-1a', exact: true }).getByRole('button').count(),
      ).toBe(2);
      const buttons = page.getByRole('button', { name: /^ip-10-0-0-17 up to date$/ });
      expect(await buttons.count()).toBe(1);
      await page.setViewportSize({ width: 1280, height: 1160 });
      await pictured(page, 'dashboard');
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    test('who comes next is who plan says, and the timeline has them after now', async () => {
      const { starts } = await shown.reached.json<{ starts: { node: string }[] }>('plan', '--until-done');
      const turns = await page.getByRole('list', { name: 'Who comes next' }).locator('.name').allInnerTexts();
      expect(turns).toEqual(starts.slice(0, 12).map(({ node }) => node.split('.')[0]));
      const timeline = panel('Timeline');
      expect(await timeline.locator('li', { hasText: 'may start at' }).count()).toBe(turns.length);
      const { counts } = await shown.reached.json<{ counts: Record<string, number> }>('status');
      // Read at once: bars leave the view as time goes on. What there is no room for is counted.
      const said = await timeline.locator('li, p').allTextContents();
      const done = said.filter((text) => /updated from .* in \d min/.test(text)).length;
      expect(done).toBeGreaterThan(5);
      const [, more = '0'] = /(\d+) that ended earlier/.exec(said.join('\n')) ?? [];
      expect(done + Number(more)).toBe(counts['upToDate']);
    });

    test('budget, pace and proof stand there', async () => {
      await says(panel('Summary'), /Permits\s*3 of 4 taken/);
      await says(panel('Summary'), /until \d\d:\d\d; 9 nodes left/);
      await says(panel('Policies and releases').locator('article'), /canary.*6 of 6 nodes.*complete.*1\.1\.0/s);
      await says(panel('Policies and releases').locator('article'), /prod.*3 at once/s);
    });

    test('what a node is at and what happened to it is shown beside it, and Escape leaves it', async () => {
      const name = nameOf(0);
      await tile(name).click();
      const beside = panel('ip-10-0-0-17');
      await says(beside, name);
      await says(beside, /UpToDate: the node runs the newest version/);
      await says(beside.getByRole('list'), /UpdateFinished/);
      expect(await tile(name).getAttribute('aria-pressed')).toBe('true');
      await page.keyboard.press('Escape');
      await beside.waitFor({ state: 'detached' });
      // How long the update has gone on: its step has not for as long.
      await tile(nameOf(21)).click();
      await says(panel('ip-10-0-0-164'), /draining\s*Updating: the node is being updated to 1\.1\.0, for \d+ min/);
      await page.keyboard.press('Escape');
    });

    test('keys alone lead everywhere: / filters, one tab stop for all tiles, arrows among them, Enter chooses', async () => {
      await page.keyboard.press('/');
      await page.keyboard.type('-0-1-');
      expect(await page.locator('.tile').count()).toBe(8);
      await says(page.getByRole('status'), '8 nodes shown');
      for (let at = 0; at < 8; at++) await page.keyboard.press('Backspace');
      expect(await page.locator('.tile[tabindex="0"]').count()).toBe(1);
      await tile(nameOf(0)).focus();
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe(nameOf(3));
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      expect(await focused()).toBe(nameOf(3));
      await page.keyboard.press('End');
      expect(await focused()).toBe(nameOf(23));
      await page.keyboard.press('Enter');
      await panel('ip-10-0-2-178').getByRole('button', { name: 'Close' }).press('Enter');
      await panel('ip-10-0-2-178').waitFor({ state: 'detached' });
      expect(await focused()).toBe(nameOf(23));
    });

    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.dataset.node');

    test('a state in the legend shows those nodes alone, and all again', async () => {
      await page.getByRole('button', { name: '6 waiting', exact: true }).click();
      expect(await page.locator('.tile').count()).toBe(6);
      await page.getByRole('button', { name: '6 waiting', exact: true }).click();
      expect(await page.locator('.tile').count()).toBe(24);
    });

    test.each(['light', 'dark'] as const)(
      'axe finds nothing, %s, wide and narrow, with a node beside',
      async (colorScheme) => {
        await page.emulateMedia({ colorScheme });
        await tile(nameOf(21)).click();
        await says(panel('ip-10-0-0-164').getByRole('list'), 'UpdateStarted');
        expect(await violations(page)).toEqual([]);
        await page.setViewportSize({ width: 360, height: 740 });
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
        await page.keyboard.press('Escape');
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.emulateMedia({ colorScheme: 'light' });
      },
    );

    test('the theme can be chosen against the system', async () => {
      const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
      const light = await ground();
      const button = page.getByRole('button', { name: /^Theme/ });
      await button.click();
      expect(await ground()).toBe(light);
      await button.click();
      expect(await ground()).not.toBe(light);
      await button.click();
      expect(await ground()).toBe(light);
    });

    test('nothing moves for those who want it so', async () => {
      const moving = () => page.evaluate('document.getAnimations().length');
      expect(await moving()).toBeGreaterThan(0);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      // What has begun to glide comes to its end.
      await until('the end of all that glides', async () => (await moving()) === 0);
      await page.emulateMedia({ reducedMotion: 'no-preference' });
    });

    test('the token is neither in the address nor in a cookie, and a reload keeps it', async () => {
      expect(page.url()).not.toContain('#');
      // A place on the page is no token.
      await page.getByRole('link', { name: 'Skip to the nodes' }).press('Enter');
      expect(page.url()).toContain('#nodes');
      await page.reload();
      await page.locator('.tile').first().waitFor();
      expect(await page.context().cookies()).toEqual([]);
    });

    // The last: it changes the fleet.
    test('a drain that hangs says how many pods are left, and who keeps them', async () => {
      const budget = 'PodDisruptionBudget shop/web (pod shop/web-7f9c-1)';
      await block(stage, nameOf(21), [budget]);
      await stage.pass();
      await page.emulateMedia({ colorScheme: 'dark' });
      await says(page.getByRole('region', { name: 'What needs you' }), 'Look at the workload');
      await says(panel('Summary'), /3 of 4 taken\s*ip-10-0-0-164\s*DrainBlocked/);
      await tile(nameOf(21)).click();
      await says(
        panel('ip-10-0-0-164'),
        /3 pods left after \d+ min( \d+ s)? of the drain, which tries until \d\d:\d\d/,
      );
      await says(panel('ip-10-0-0-164').getByRole('listitem'), budget);
      await says(panel('ip-10-0-0-164').getByRole('list'), 'UpdateStarted');
      await page.mouse.move(0, 0);
      await page.evaluate('scrollTo(0, 0)');
      expect(await violations(page)).toEqual([]);
      await pictured(page, 'dashboard-drain');
      await page.getByRole('button', { name: 'Table' }).click();
      await says(
        page.locator('table tbody tr'),
        /ip-10-0-0-164.*DrainBlocked: the drain waits for PodDisruptionBudget/,
      );
    });
  });

  describe('of a small fleet', () => {
    beforeEach(async () => {
      stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 10 * MINUTE, 'a', 'b', 'c', 'd');
    });
    afterEach(close);

    test('what happens is seen without a reload: steps, Events, nodes that come and go', async () => {
      await deploy(stage);
      await show();
      await says(tile('a'), 'staging');
      await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
      await stage.pass();
      await says(tile('a'), 'draining');
      await stage.join('e');
      await stage.delete('/api/v1/nodes/d');
      await stage.pass();
      await says(tile('e'), 'waiting');
      await tile('d').waitFor({ state: 'detached' });
      await says(panel('Events').getByRole('listitem'), /UpdateStarted\s*a/);
      expect(shown.faults).toEqual([]);
    });

    test('a release that is halted comes before all else, with what to do', async () => {
      await deploy(stage, { MAX_FAILED_UPDATE: '1' });
      await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
      await stage.pass();
      await fail(stage, 'a');
      await stage.pass();
      await stage.report('a', { current_state: 'Idle' });
      await stage.pass();
      await show();
      const needsYou = page.getByRole('region', { name: 'What needs you' });
      await says(
        needsYou,
        /Release halted.*1\.1\.0 .* is halted: too many nodes failed on it \(1 may\): a BootFailed/s,
      );
      await says(needsYou, 'kubectl brupop clear 1.1.0');
      await says(tile('b'), 'blocked');
      await tile('a').click();
      await says(panel('a'), 'BootFailed: the host came back on 1.0.0');
      await says(panel('Timeline').getByRole('listitem'), /^a.*failed at [\d:]+, after \d/s);
      expect(await panel('Timeline').getByText('may start at').count()).toBe(0);
      await says(panel('Events').getByRole('listitem'), '! UpdateFailed');
      expect(await panel('Events').getByText('! UpdateStarted').count()).toBe(0);
      const annotations = { [PAUSED_ANNOTATION]: 'true' };
      await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations } });
      await says(needsYou, /Paused\. No update starts\./);
      const ahead = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name: 'ahead' } };
      const spec = { family: '*', version: '1.2.0', decision: 'Halt' };
      await stage.create(RELEASES_PATH, { ...ahead, spec });
      await says(needsYou, 'Decided: 1.2.0: people have halted it');
      expect(await violations(page)).toEqual([]);
    });

    test('a right that is lacking is said, in words that are text and no markup, and all else is there', async () => {
      await deploy(stage);
      refuse('events', '<img src=x onerror=alert(1)>');
      await show();
      const said = 'Events in default, which you may not list (<img src=x onerror=alert(1)>)';
      await says(page.getByRole('region', { name: 'What needs you' }), said);
      expect(shown.faults).toEqual([]);
      await says(tile('a'), 'staging');
      expect(await violations(page)).toEqual([]);
    });

    test('ages are by the clock of the program, however many minutes the clock of the browser is off', async () => {
      await deploy(stage);
      await show({ clockAheadMs: 10 * MINUTE });
      await says(page.getByRole('status'), 'Live');
      await tile('a').click();
      await says(panel('a'), /the node is being updated to 1\.1\.0, for 10 min/);
    });

    test('while the cluster does not answer, the page says so, with the age of what it still shows', async () => {
      await deploy(stage);
      await show();
      await says(page.getByRole('status'), 'Live');
      const end = refuse('nodes', 'no nodes');
      await says(page.getByRole('status'), 'you may not do that (403): no nodes');
      await says(page.locator('.age'), /as of \d\d:\d\d:\d\d, \d+ s ago/);
      expect(await tile('a').isVisible()).toBe(true);
      end();
      await says(page.getByRole('status'), 'Live');
    });
  });
});
