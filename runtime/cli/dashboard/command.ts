import { randomBytes } from 'node:crypto';
import { type Answer, type Cluster, type Command, type Request, UsageError } from '../command.ts';
import { explained } from '../errors.ts';
import { pauseAfter } from '../watch.ts';
import { openInBrowser } from './browser.ts';
import { pageFiles } from './files.ts';
import { look, pastOf } from './look.ts';
import { DashboardServer } from './server.ts';
import { Shown } from './shown.ts';
import type { Message } from './wire.ts';

export const dashboard: Command = {
  name: 'dashboard',
  takes: '',
  summary: 'show the fleet on a page of your browser, as it is now, until Ctrl-C',
  details: `The page is served on this machine alone, to whoever has its address, and nothing can be changed through it. It shows what status, plan,
why, timeline and history print, by your own kubeconfig and rights, and follows what happens.`,
  options: {
    port: { type: 'string', value: 'NUMBER', help: 'of 127.0.0.1; by default any that is free' },
    'no-open': { type: 'boolean', help: 'print the address, and open no browser' },
  },
  most: 0,
  async run(request) {
    const [port, cluster] = [portOf(request), await request.connect()];
    const shown = new Shown();
    const now = request.clock.now();
    shown.take(await look(cluster, now), now);
    const server = await DashboardServer.listening({
      port,
      token: drawn(),
      ticket: drawn(),
      files: pageFiles(),
      whole: () => shown.whole,
      pastOf: (node) => pastOf(cluster, node),
      explained,
    });
    if (!request.values['no-open']) openInBrowser(server.urlForOnce);
    return answerOf(server.url, (signal) => following({ request, cluster, shown, server }, signal));
  },
};

const drawn = (): string => randomBytes(32).toString('base64url');

function portOf({ values }: Request): number {
  const text = String(values['port'] ?? 0);
  if (/^\d+$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new UsageError(`--port: expected a number from 0 to 65535, got ${text}`);
}

const answerOf = (url: string, goesOn: Answer['goesOn'] & {}): Answer => ({
  value: { url },
  lines: () => [`The dashboard is at ${url}`, 'Whoever has this address sees what you may see. Ctrl-C ends it.'],
  goesOn,
});

interface Following {
  readonly request: Request;
  readonly cluster: Cluster;
  readonly shown: Shown;
  readonly server: DashboardServer;
}

/** Looks again and again while a page listens, and tells what has changed. */
async function following({ request: { clock }, cluster, shown, server }: Following, signal: AbortSignal) {
  let took = 0;
  for (;;) {
    await clock.sleep(pauseAfter(took), signal).catch(() => undefined);
    await server.listenedTo(signal);
    if (signal.aborted) return server.close();
    const begun = clock.monotonic();
    server.tell(await lookAgain({ cluster, shown }, clock.now()));
    took = clock.monotonic() - begun;
  }
}

function lookAgain({ cluster, shown }: Pick<Following, 'cluster' | 'shown'>, now: number): Promise<Message> {
  return look(cluster, now).then(
    (model) => shown.take(model, now),
    (error: unknown) => shown.fail(explained(error)),
  );
}
