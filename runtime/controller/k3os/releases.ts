import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import { retryAfterMs } from '../../lib/http.ts';
import { jsonObject } from '../../lib/json.ts';
import { backoff } from '../../lib/retry.ts';
import type { Random } from '../../lib/random.ts';
import { VERSION } from '../../lib/version.ts';
import type { Answer, Question } from '../../api/k3os/answers.ts';
import { releaseOf } from '../../api/k3os/release.ts';

interface GithubReleasesOptions {
  /** Of GitHub's REST API, e.g. `https://api.github.com`. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** A good answer is complete within this time. */
const ANSWER_MS = 10_000;
/** Most bytes of an answer. A release with hundreds of assets and a long text has less. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** After an answer that cannot be used. */
const PAUSE = { firstMs: 5000, maxMs: 300_000 };
/** A release that is missing may be published at any time, so it is asked for again after this time. */
const MISSING_MS = 900_000;
/** GitHub counts requests by the hour. Its clock may differ from ours, so the pause that it names is kept within these bounds. */
const LIMITED = { leastMs: 60_000, mostMs: 3_600_000 };

/** Releases of repositories, by GitHub's REST API. */
export class GithubReleases {
  readonly #options: GithubReleasesOptions;
  /** Failures in a row over all questions: they have one source. */
  #failures = 0;

  constructor(options: GithubReleasesOptions) {
    this.#options = options;
  }

  /** @throws the signal's reason alone */
  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const { clock } = this.#options;
    try {
      const work = (inner: AbortSignal): Promise<GithubResponse> => this.#get(question, inner);
      const answer = this.#read(question, await withDeadline({ clock, ms: ANSWER_MS, signal }, work));
      if (answer.kind !== 'failed') this.#failures = 0;
      return answer;
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(question, whyOf(error));
    }
  }

  async #get({ repository, tag }: Question, signal: AbortSignal): Promise<GithubResponse> {
    const base = this.#options.baseUrl.replace(/\/+$/, '');
    const what = tag === undefined ? 'latest' : `tags/${encodeURIComponent(tag)}`;
    let url = new URL(`${base}/repos/${repository}/releases/${what}`);
    for (let redirects = 0; ; redirects++) {
      const response = await get(url, signal);
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || location === undefined) return response;
      const next = new URL(location, url);
      // A renamed repository redirects within the same server. Redirects to another server are not followed.
      if (redirects === MAX_REDIRECTS || next.origin !== url.origin) throw new Error('it redirects elsewhere');
      url = next;
    }
  }

  #read(question: Question, { status, headers, body }: GithubResponse): Answer {
    const { repository, tag } = question;
    if (status === 200) return this.#found(question, body);
    if (status === 404) {
      const message = tag === undefined ? `${repository} has no release` : `${repository} has no release ${tag}`;
      return { kind: 'missing', message, retryAt: this.#options.clock.now() + MISSING_MS };
    }
    const limitedMs = limitedFor(headers, this.#options.clock.now());
    if ((status === 403 || status === 429) && (status === 429 || limitedMs !== undefined))
      return this.#failed(question, 'they may not be asked for so often', limitedMs ?? LIMITED.leastMs);
    return this.#failed(question, `the answer is ${status}`);
  }

  #found(question: Question, body: string): Answer {
    const name = tagNameOf(body);
    if (name === undefined) return this.#failed(question, 'the answer is no release');
    const { repository, tag } = question;
    if (tag !== undefined && name !== tag) return this.#failed(question, `the answer is about ${name.slice(0, 128)}`);
    if (releaseOf(name)) return { kind: 'found', tag: name };
    const message = `the newest release of ${repository} is no version: ${name.slice(0, 128)}`;
    return { kind: 'missing', message, retryAt: this.#options.clock.now() + MISSING_MS };
  }

  #failed({ repository }: Question, why: string, pauseMs?: number): Answer {
    const { clock, random } = this.#options;
    const ms = pauseMs ?? backoff(this.#failures, { ...PAUSE, random });
    this.#failures += 1;
    return {
      kind: 'failed',
      message: `the releases of ${repository} cannot be read: ${why}`,
      retryAt: Math.ceil(clock.now() + ms),
    };
  }
}

interface GithubResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

function get(url: URL, signal: AbortSignal): Promise<GithubResponse> {
  const headers = {
    accept: 'application/vnd.github+json',
    'user-agent': `brupop-controller/${VERSION}`,
    'x-github-api-version': '2022-11-28',
  };
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    // Requests are rare, so no connection is kept.
    const request = send(url, { headers, signal, agent: false }, (response) => {
      textOf(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.once('error', reject);
    request.end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tagNameOf(body: string): string | undefined {
  const { tag_name: name } = jsonObject(body) as { tag_name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/** The pause that the answer asks for, milliseconds; undefined where it asks for none. It is `Retry-After`, or the time until GitHub counts anew. */
function limitedFor(headers: IncomingMessage['headers'], now: number): number | undefined {
  const afterMs = retryAfterMs(headers['retry-after'], now);
  if (afterMs !== undefined) return withinLimits(afterMs);
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] !== '0' || typeof reset !== 'string') return undefined;
  return /^\d{1,12}$/.test(reset) ? withinLimits(Number(reset) * 1000 - now) : LIMITED.leastMs;
}

const withinLimits = (ms: number): number => Math.min(Math.max(ms, LIMITED.leastMs), LIMITED.mostMs);

/** The error's code where there is one, because it stays the same: the message names ports and addresses. */
function whyOf(error: unknown): string {
  const { code, message, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'DeadlineError') return 'no answer in time';
  return code === undefined ? message : `no answer (${code})`;
}
