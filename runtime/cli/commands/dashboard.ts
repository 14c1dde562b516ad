import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type Answer, type Cluster, type Command, type CommandRequest, UsageError } from '../command.ts';
import { hereOf } from '../arguments.ts';
import { explain } from '../errors.ts';
import { pauseAfter } from '../output/watch.ts';
import { readModel, readPast } from '../dashboard/model.ts';
import { DashboardServer, type PageFile } from '../dashboard/server.ts';
import { Messages } from '../dashboard/stream.ts';
import type { MessageBody } from '../dashboard/wire.ts';

export const dashboard: Command = {
  name: 'dashboard',
  args: '',
  summary: 'show the fleet on a page of your browser, as it is now, until Ctrl-C',
  details: `The page is served on this machine only, to everybody who has its address. It shows what status, plan, why, timeline and history print, with
your own kubeconfig and rights, and stays up to date. Nothing can be changed through it.`,
  options: {
    port: { type: 'string', value: 'NUMBER', help: 'port of 127.0.0.1; by default any free one' },
    'no-open': { type: 'boolean', help: 'print the address without opening a browser' },
  },
  maxArgs: 0,
  async run(request) {
    const [port, cluster] = [portOf(request), await request.connect()];
    const messages = new Messages();
    const now = request.clock.now();
    messages.changed(await readModel(cluster, now, hereOf(request.values)), now);
    const server = await DashboardServer.listening({
      port,
      token: randomToken(),
      ticket: randomToken(),
      files: pageFiles(),
      whole: () => messages.whole,
      now: () => request.clock.now(),
      pastOf: (node) => readPast(cluster, node),
      explain,
    });
    if (!request.values['no-open']) openInBrowser(server.urlForOnce);
    return answerOf(server.url, (signal) => follow({ request, cluster, messages, server }, signal));
  },
};

const randomToken = (): string => randomBytes(32).toString('base64url');

function portOf({ values }: CommandRequest): number {
  const text = String(values['port'] ?? 0);
  if (/^\d+$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new UsageError(`--port: expected a number from 0 to 65535, got ${text}`);
}

const answerOf = (url: string, continues: Answer['continues'] & {}): Answer => ({
  value: { url },
  lines: () => [`The dashboard is at ${url}`, 'Everybody who has this address sees what you may see. Ctrl-C ends it.'],
  continues,
});

interface Following {
  readonly request: CommandRequest;
  readonly cluster: Cluster;
  readonly messages: Messages;
  readonly server: DashboardServer;
}

/** Reads the cluster again and again while a page is connected, and sends what has changed. */
async function follow({ request, cluster, messages, server }: Following, signal: AbortSignal) {
  const { clock } = request;
  let took = 0;
  for (;;) {
    await clock.sleep(pauseAfter(took), signal).catch(() => undefined);
    await server.connected(signal);
    if (signal.aborted) return server.close();
    const begun = clock.monotonic();
    server.send(await nextMessage({ request, cluster, messages }, clock.now()));
    took = clock.monotonic() - begun;
  }
}

function nextMessage(
  { request, cluster, messages }: Pick<Following, 'request' | 'cluster' | 'messages'>,
  now: number,
): Promise<MessageBody> {
  return readModel(cluster, now, hereOf(request.values)).then(
    (model) => messages.changed(model, now),
    (error: unknown) => messages.failed(explain(error)),
  );
}

/** The program of each system that opens an address in the user's browser. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // The first argument of start is a title.
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/** Opens the address. A failure is ignored, because the address is printed as well. */
function openInBrowser(url: string): void {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? [];
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', () => undefined);
  opener.unref();
}

/** `tools/bundle/build.mjs` builds `page/` and puts the result into the program's file. */
declare const DASHBOARD_PAGE: Readonly<Record<'html' | 'script' | 'style' | 'icon', string>>;

/** The files of the page by path. */
function pageFiles(): ReadonlyMap<string, PageFile> {
  const { html, script, style, icon } = DASHBOARD_PAGE;
  return new Map([
    ['/', { type: 'text/html', text: html }],
    ['/page.js', { type: 'text/javascript', text: script }],
    ['/page.css', { type: 'text/css', text: style }],
    ['/icon.svg', { type: 'image/svg+xml', text: icon }],
  ]);
}
