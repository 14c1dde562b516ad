import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { LAST_UPDATE_ANNOTATION, shadowName } from '../../../runtime/api/shadow/names.ts';
import { Stage } from '../../controller/stage.ts';
import { deployContainer } from '../deployed.ts';
import { closed, inBrowser, launched, type Opened, opened, violations } from './browser.ts';
import { MINUTE } from './scene.ts';

/** The page with a thousand nodes: how long it takes to answer a click or a key, while the fleet goes on. */

const [title, isSkipped] = inBrowser('a thousand nodes in Chromium');
const NODES = 1000;
/** Longer than this, and people feel that they wait. */
const LIMIT_MS = 100;
/** A machine that has much else to do delays some interactions of each round. What the page itself is slow at delays all of a kind. */
const SHARE = 0.75;
const ROUNDS = 4;

/** By Event Timing: from a key or click to the next frame that is painted. What takes less than 16 ms is not told of. */
const OBSERVE = `
  interactions.clear();
  globalThis.begun = performance.interactionCount;
`;
const BEGIN = `
  globalThis.interactions = new Map();
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: 16 });
`;
/** After two frames all is told. */
const RESULT = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>
  resolve({ count: performance.interactionCount - begun, tookMs: [...interactions.values()] })))))`;

interface Round {
  readonly count: number;
  /** What took longer than 16 ms. */
  readonly tookMs: readonly number[];
}

function within({ count, tookMs }: Round, share: number): number {
  const all = [...Array.from({ length: Math.max(count - tookMs.length, 0) }, () => 0), ...tookMs];
  return all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? Infinity;
}

(isSkipped ? describe.skip : describe)(title, () => {
  let browser: Browser;
  let stage: Stage;
  let shown: Opened;
  let page: Page;

  beforeAll(async () => {
    browser = await launched();
    const names = Array.from({ length: NODES }, (_, index) => `worker-${index + 1}`);
    stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 10 * MINUTE, ...names);
    const env = [{ name: 'MAX_CONCURRENT_UPDATE', value: '20' }];
    await deployContainer(stage, { name: 'brupop', image: 'x', env });
    for (const [index, name] of names.entries()) {
      const labels = { 'topology.kubernetes.io/zone': `zone-${index % 3}` };
      await stage.patch(`/api/v1/nodes/${name}`, { metadata: { labels } });
      if (index < 300) await stage.report(name, { current_version: '1.1.0' });
    }
    const annotations = { [LAST_UPDATE_ANNOTATION]: '300' };
    await stage.shadows.patch(shadowName('worker-1'), { metadata: { annotations } });
    shown = await opened(stage, browser);
    ({ page } = shown);
    await page.evaluate(BEGIN);
  });
  afterAll(async () => {
    await closed(shown);
    await browser.close();
  });

  async function round(): Promise<Round> {
    await page.evaluate(OBSERVE);
    for (let at = 0; at < 12; at++)
      await page
        .locator('.tile')
        .nth((at * 37) % 150)
        .click();
    await page.locator('.tile').nth(5).focus();
    const keys = ['ArrowRight', 'ArrowDown', 'ArrowDown', 'Enter', 'ArrowLeft', 'End', 'Enter', 'Escape', '/'];
    for (const key of keys) await page.keyboard.press(key);
    await page.keyboard.type('worker-9');
    for (let at = 0; at < 'worker-9'.length; at++) await page.keyboard.press('Backspace');
    return page.evaluate<Round>(RESULT);
  }

  test('a click or a key is answered within a tenth of a second, while the fleet goes on', async () => {
    expect(await page.locator('.tile').count()).toBe(NODES);
    const rounds: Round[] = [];
    while (rounds.length < ROUNDS && !rounds.some((one) => within(one, 1) < LIMIT_MS)) {
      for (let index = 0; index < 50; index++)
        await stage.report(`worker-${301 + rounds.length * 50 + index}`, { current_version: '1.1.0' });
      rounds.push(await round());
    }
    const told = rounds.map((one) => `three of four ${within(one, SHARE)}, all ${within(one, 1)}`);
    process.stderr.write(`interactions with ${NODES} nodes, ms, round by round: ${told.join('; ')}\n`);
    for (const { count } of rounds) expect(count).toBeGreaterThan(30);
    expect(Math.min(...rounds.map((one) => within(one, SHARE)))).toBeLessThan(LIMIT_MS);
    const done = `${300 + rounds.length * 50}/1,000`;
    await page.locator('.count', { hasText: done }).first().waitFor();
  });

  test('axe finds nothing, and the browser complains of nothing', async () => {
    expect(await violations(page)).toEqual([]);
    expect(shown.faults).toEqual([]);
  });
});
