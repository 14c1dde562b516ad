import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { RELEASE_API_VERSION, RELEASE_KIND, releaseObjectName } from '../../../runtime/api/release/names.ts';
import { RELEASES_PATH, releasesOf } from '../../../runtime/api/resources.ts';
import { rfc3339, systemClock } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../controller/stage.ts';
import { deploy } from '../deployed.ts';
import { closed, inBrowser, launched, type Opened, opened, violations } from './browser.ts';
import { MINUTE } from './scene.ts';

/** How a release comes to the nodes in its waves, on the page. */

const [title, isSkipped] = inBrowser('the curve of a release in Chromium');
const RELEASE = { family: 'aws-k8s-1.33/amd64', version: '1.1.0' };
const METADATA = 'https://updates.example/';
const SEEDS = { a: 0, b: 1, c: 1000, d: 1501 };

/** One node runs it, one may have it, and two wait for their waves. */
async function inWaves(now: number): Promise<Stage> {
  const stage = await Stage.at(now - 10 * MINUTE, ...Object.keys(SEEDS));
  const settings = { ignore_waves: false, version_lock: 'latest', metadata_base_url: METADATA, read_at: rfc3339(now) };
  for (const [name, seed] of Object.entries(SEEDS)) {
    const runs = name === 'a' ? '1.1.0' : '1.0.0';
    const update_settings = { ...settings, seed };
    await stage.report(name, { current_version: runs, target_version: runs, update_settings });
  }
  const name = releaseObjectName(RELEASE);
  await stage.create(RELEASES_PATH, {
    apiVersion: RELEASE_API_VERSION,
    kind: RELEASE_KIND,
    metadata: { name },
    spec: RELEASE,
  });
  const times = { 0: -120, 1: -60, 1000: 60, 1500: 180 };
  const waves = Object.entries(times).map(([seed, at]) => ({ seed: Number(seed), time: rfc3339(now + at * MINUTE) }));
  const repositories = [{ metadata: METADATA, waves }];
  const published = { firstSeenAt: rfc3339(now - 120 * MINUTE), maxVersion: RELEASE.version, repositories };
  await releasesOf(stage.transport).patchStatus(name, { status: { published } });
  await deploy(stage);
  await stage.pass(9 * MINUTE);
  return stage;
}

(isSkipped ? describe.skip : describe)(title, () => {
  let browser: Browser;
  let shown: Opened;
  let page: Page;

  beforeAll(async () => {
    browser = await launched();
    shown = await opened(await inWaves(Math.floor(systemClock.now() / 1000) * 1000), browser);
    ({ page } = shown);
  });
  afterAll(async () => {
    await closed(shown);
    await browser.close();
  });

  test('has a step for each wave that is to come or has come since the beginning, and says so in words', async () => {
    const curve = page.getByRole('region', { name: 'Releases on their way' });
    const { releases } = await shown.reached.json<{ releases: { reach?: { now: number } }[] }>('releases', '1.1.0');
    expect(releases[0]?.reach?.now).toBe(2);
    expect(await curve.innerText()).toMatch(/1\.1\.0 aws-k8s-1\.33\/amd64\s+2 of 4 nodes may have it now, .*all by/);
    const steps = async (path: string): Promise<number> =>
      ((await curve.locator(`path.${path}`).getAttribute('d')) ?? '').split('V').length - 1;
    expect(await steps('came')).toBe(3);
    expect(await steps('runs')).toBe(0);
    expect(shown.faults).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'axe finds nothing, %s, and narrow it scrolls to no side',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 400, height: 740 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
      expect(await violations(page)).toEqual([]);
      const box = await page.locator('.curve svg').boundingBox();
      expect(box!.x + box!.width).toBeLessThanOrEqual(400);
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );
});
