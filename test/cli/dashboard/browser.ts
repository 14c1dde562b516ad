import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Stage } from '../../controller/stage.ts';
import { Reached } from '../served.ts';

/** The Chromium of this machine; undefined where there is none. */
const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, name)))
  .find((path) => existsSync(path));

/** What tests in a browser are called, and whether there is one. */
export const inBrowser = (name: string): readonly [name: string, isSkipped: boolean] =>
  CHROMIUM === undefined ? [`${name} (skipped: no chromium on the PATH)`, true] : [name, false];

/** Without a screen, and without a sandbox, which root has none of. */
export const launched = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox', '--font-render-hinting=none'] });

/** Screenshots of the docs go where `npm run lab -- screenshots` says. */
const PICTURES = process.env['SCREENSHOTS'] ?? fileURLToPath(new URL('../../../build/screenshots', import.meta.url));

const MOST_BYTES = 150_000;

/** WebP: a third of what the browser's PNG takes. */
export async function pictured(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 88 });
  await session.detach();
  // They are kept in the repository.
  if (data.length > MOST_BYTES * (4 / 3)) throw new Error(`the picture ${name} takes ${data.length * 0.75} bytes`);
  await mkdir(PICTURES, { recursive: true });
  await writeFile(join(PICTURES, `${name}.webp`), Buffer.from(data, 'base64'));
}

const SIZE = { width: 1280, height: 900 } as const;

export interface Opened {
  readonly stage: Stage;
  readonly reached: Reached;
  readonly page: Page;
  readonly url: string;
  /** What the browser complained of: what its console calls an error, and exceptions. */
  readonly faults: readonly string[];
  /** The program that serves it. */
  readonly program: Awaited<ReturnType<Reached['start']>>;
}

export interface Opening extends BrowserContextOptions {
  /** Of the browser, against that of this machine. @default 0 */
  readonly clockAheadMs?: number;
}

/** The page of a dashboard of its own, on the cluster of the stage. */
export async function opened(stage: Stage, browser: Browser, opening: Opening = {}): Promise<Opened> {
  const { clockAheadMs = 0, ...options } = opening;
  const reached = await Reached.of(stage.cluster);
  const program = await reached.start('dashboard', '--no-open');
  await program.said('Ctrl-C ends it.');
  const [url = ''] = /http\S+/.exec(program.out) ?? [];
  const context = await browser.newContext({ viewport: SIZE, locale: 'en-GB', timezoneId: 'UTC', ...options });
  // Safari has streams without it, up to 26 at least.
  await context.addInitScript('delete ReadableStream.prototype[Symbol.asyncIterator]');
  await context.addInitScript(`{ const { now } = Date; Date.now = () => now() + ${clockAheadMs}; }`);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  page.on('pageerror', (error) => void faults.push(String(error)));
  await page.goto(url);
  await page.locator('.tile').first().waitFor();
  return { stage, reached, page, url, faults, program };
}

/** Ends the program and the stage, and closes the page and its browser's other tabs. */
export async function closed({ stage, reached, page, program }: Opened): Promise<void> {
  program.child.kill('SIGINT');
  await program.ended;
  await page.context().close();
  await reached.close();
  await stage.end();
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** By axe-core's rules for WCAG 2.2 AA and its best practices: what is wrong, and where. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    const { violations: found } = await axe.run({ rules: { 'target-size': { enabled: true } } });
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}
