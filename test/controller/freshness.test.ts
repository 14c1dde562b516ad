import { afterEach, describe, expect, test } from '@jest/globals';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { POLICIES_PATH, shadowsPath } from '../../runtime/api/resources.ts';
import { NAMESPACES_PATH, NODES_PATH, podsPath } from '../../runtime/kube/resources.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import { HOLD_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

type Way = 'refused' | 'hung' | 'silent';

/** A way to the cluster that fails from one moment on: for reads of some collections, or as a whole. */
class Failing implements KubeTransport {
  readonly #stage: Stage;
  #fails: (request: KubeRequest) => boolean = () => false;
  #way: Way = 'refused';
  #break = new AbortController();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Watches that are open fail too. */
  fail(way: Way, fails: (request: KubeRequest) => boolean): void {
    this.#fails = fails;
    this.#way = way;
    this.#break.abort(new UnreachableError('the connection broke'));
    this.#break = new AbortController();
  }

  /** @param path of a collection, which is neither listed nor watched any more */
  hide(path: string, way: Way): void {
    this.fail(way, (asked) => asked.method === 'GET' && asked.path === path);
  }

  heal(): void {
    this.fail('refused', () => false);
  }

  async request(request: KubeRequest): Promise<unknown> {
    if (this.#fails(request)) await this.#failing(request);
    return this.#stage.transport.request(request);
  }

  async *watch(watch: KubeWatch): AsyncGenerator<WatchEvent> {
    const { path, signal } = watch;
    const asked = { method: 'GET', path, ...(signal && { signal }) } as const;
    if (this.#fails(asked)) await this.#failing(asked);
    const broken = this.#break.signal;
    const either = AbortSignal.any([broken, ...(signal ? [signal] : [])]);
    yield* this.#stage.transport.watch({ ...watch, signal: either });
    if (signal?.aborted || !broken.aborted) return;
    if (this.#way === 'silent' && this.#fails(asked)) await aborts(signal);
    else throw broken.reason;
  }

  /** Refused, or without an answer for as long as anybody waits for one. */
  async #failing({ path, signal }: KubeRequest): Promise<never> {
    if (this.#way === 'refused') throw apiStatusError(`GET ${path}`, { code: 403, reason: 'Forbidden' });
    await this.#stage.clock.sleep(30_000, signal).catch(() => undefined);
    throw new UnreachableError(`GET ${path}: no answer`);
  }
}

const aborts = (signal: AbortSignal | undefined): Promise<unknown> =>
  new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));

const COLLECTIONS = {
  nodes: NODES_PATH,
  shadows: shadowsPath(NAMESPACE),
  "agents' pods": podsPath(NAMESPACE),
  namespaces: NAMESPACES_PATH,
  policies: POLICIES_PATH,
};
const WAYS: readonly Way[] = ['refused', 'hung', 'silent'];
const MINUTE = 60_000;
/** Updates may start from ten minutes after the beginning. */
const LATER = { UPDATE_WINDOW_START: '00:10:00', UPDATE_WINDOW_STOP: '05:00:00' };
const PAUSED = { metadata: { annotations: { [PAUSED_ANNOTATION]: 'an incident' } } };
const pause = (stage: Stage): Promise<unknown> => stage.patch(`/api/v1/namespaces/${NAMESPACE}`, PAUSED);

let stage: Stage;
let line: Failing;
afterEach(() => stage.end());

async function begin(env: Readonly<Record<string, string>>, ...names: readonly string[]) {
  stage = await Stage.with(...names);
  line = new Failing(stage);
  const manager = stage.start({ transport: line, env });
  await stage.pass();
  return { reasons: () => manager.preview().verdicts.map(({ reason }) => reason) };
}

describe.each(Object.entries(COLLECTIONS))('while the %s cannot be read', (what, path) => {
  test.each(WAYS)('because a watch is %s, no node starts, and the verdict says so', async (way) => {
    const { reasons } = await begin(LATER, 'a', 'b');
    line.hide(path, way);
    await stage.pass(30 * MINUTE);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'Idle']);
    expect(reasons()).toEqual(['NotCurrent', 'NotCurrent']);
    const { message } = (await stage.shadows.get('brs-a'))!.status!.conditions![0]!;
    expect(message).toContain(what);
    line.heal();
    await stage.pass(90_000);
    expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
  });
});

test('a node that waits with what it has staged is not disturbed, and one that was disturbed goes on', async () => {
  await begin({ MAX_CONCURRENT_UPDATE: '2' }, 'a', 'b');
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  line.hide(NODES_PATH, 'hung');
  await stage.pass(2 * MINUTE);
  await stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
  await stage.pass();
  expect(await stage.specs('a', 'b')).toEqual(['MonitoringUpdate 1.1.0', 'StagedAndPerformedUpdate 1.1.0']);
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  await stage.pass(10 * MINUTE);
  expect(await stage.specs('a', 'b')).toEqual(['Idle 1.1.0', 'StagedAndPerformedUpdate 1.1.0']);
  line.heal();
  await stage.pass(90_000);
  expect(await stage.spec('b')).toBe('RebootedIntoUpdate 1.1.0');
});

test('a pause of the fleet that could not be seen for hours is obeyed, then as before', async () => {
  await begin({}, 'a', 'b');
  line.hide(NAMESPACES_PATH, 'refused');
  await stage.pass(2 * MINUTE);
  await pause(stage);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(240 * MINUTE);
  expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
  line.heal();
  await stage.pass(5 * MINUTE);
  expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
});

describe('a leader that was cut off and is back starts nothing', () => {
  const said: Record<string, () => Promise<unknown>> = {
    'against a pause of the fleet': () => pause(stage),
    'against a hold': () => stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } }),
    'beside a node that has died': () => stage.setReady('b', false),
  };
  const seconds = [12, 61, 300];
  const cases = Object.entries(said).flatMap(([what, say]) => seconds.map((away) => [what, away, say] as const));

  test.each(cases)('%s, %i seconds ago', async (_, away, say) => {
    await begin(LATER, 'a', 'b');
    await stage.pass(10 * MINUTE - (away * 1000) / 2);
    line.fail('hung', () => true);
    await stage.pass(2000);
    await say();
    await stage.pass(away * 1000);
    line.heal();
    for (let second = 0; second < 60; second++) {
      await stage.pass(250);
      const { spec } = (await stage.shadows.get('brs-a'))!;
      expect(spec.state).toBe('Idle');
    }
  });
});
