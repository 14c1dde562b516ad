import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConflictError, UnreachableError } from '../../runtime/kube/errors.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { HOLD_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { blindTo, intercepted, takesPermit, writesSpec } from './transports.ts';

/** Schedules of two leaders that broke earlier versions of the protocol, each read and write placed by hand. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.withoutConditions('a', 'b');
});
afterEach(() => stage.end());

const SHADOWS = shadowsPath(NAMESPACE);
const hold = (name: string): Promise<void> =>
  stage.patchNode(name, { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });

/** The way to the cluster of a process that stops in the middle of a request, and may go on later: no signal reaches it while it stands. */
class Stopping {
  readonly #which: (request: KubeRequest) => boolean;
  /** Whether the request in question is made before the process stops, or once it goes on. */
  readonly #when: 'before' | 'after';
  #resume: (() => void) | undefined;
  readonly outcomes: unknown[] = [];

  constructor(which: (request: KubeRequest) => boolean, when: 'before' | 'after') {
    this.#which = which;
    this.#when = when;
  }

  get stopped(): boolean {
    return this.#resume !== undefined;
  }

  readonly transport: KubeTransport = {
    request: async (asked) => {
      const { signal: _, ...request } = asked;
      if (this.stopped) await this.#resumed;
      if (this.stopped || !this.#which(request)) return this.#send(request);
      const answer = this.#when === 'before' ? await this.#send(request) : undefined;
      this.#resumed = new Promise((resolve) => (this.#resume = resolve));
      await this.#resumed;
      return answer ?? this.#send(request);
    },
    watch: (request) => stage.transport.watch(request),
  };
  #resumed: Promise<void> = Promise.resolve();

  async goOn(): Promise<void> {
    this.#resume?.();
    await stage.pass(5000);
  }

  #send(request: KubeRequest): Promise<unknown> {
    const answer = stage.transport.request(request);
    if (writesSpec(request)) {
      answer.then(
        () => this.outcomes.push('written'),
        (error: unknown) => this.outcomes.push(error),
      );
    }
    return answer;
  }
}

/** A leader stops while it starts `a`; another takes over, is kept from `a`, and starts `b`. */
async function overtaken(stopping: Stopping, identity?: string): Promise<void> {
  const first = new AbortController();
  stage.start({ transport: stopping.transport, signal: first.signal, identity: 'first' });
  await stage.pass();
  expect(stopping.stopped).toBe(true);
  await hold('a');
  stage.start(identity === undefined ? {} : { identity });
  await stage.pass(30_000);
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
}

async function expectRefused(stopping: Stopping): Promise<void> {
  await stopping.goOn();
  expect(stopping.outcomes).toEqual([expect.any(ConflictError)]);
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  expect(await stage.permits()).toEqual(['brs-b']);
}

describe('a leader takes no node for done by a cache from before its start', () => {
  const stillStarted = async (): Promise<void> => {
    await hold('a');
    await stage.pass(60_000);
    expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
    expect(await stage.permits()).toEqual(['brs-a']);
  };

  test('its own start', async () => {
    const old = await stage.get(SHADOWS);
    stage.start({ transport: blindTo(SHADOWS, stage.transport, old) });
    await stage.pass();
    await stillStarted();
  });

  test('that of the leader before', async () => {
    const first = new AbortController();
    const old = await stage.get(SHADOWS);
    stage.start({ signal: first.signal });
    await stage.pass();
    first.abort();
    await stage.pass();
    stage.start({ transport: blindTo(SHADOWS, stage.transport, old) });
    await stillStarted();
  });
});

test('a process that leads again knows nothing of the permits that it finds, not even of its own', async () => {
  let isOut = false;
  const transport = intercepted(stage.transport, (request, go) =>
    isOut && request.path.includes('/leases/') ? Promise.reject(new UnreachableError('out')) : go(),
  );
  const controller = stage.start({ transport });
  await stage.pass();
  const bumps = async (): Promise<string | undefined> =>
    (await stage.shadows.get(shadowName('a')))!.metadata.annotations?.['brupop.bottlerocket.aws/bumped'];
  expect(await bumps()).toBeUndefined();
  isOut = true;
  await stage.pass(12_000);
  expect(controller.preview().leading).toBe(false);
  isOut = false;
  await stage.pass(5000);
  expect(controller.preview().leading).toBe(true);
  expect(await bumps()).toBe('1');
});

describe('a start whose spec comes late is refused', () => {
  test('after another process has taken over and started another node', async () => {
    const stopping = new Stopping(writesSpec, 'after');
    await overtaken(stopping);
    await expectRefused(stopping);
  });

  test('after a restart under the same holder identity', async () => {
    const stopping = new Stopping(writesSpec, 'after');
    await overtaken(stopping, 'first');
    await expectRefused(stopping);
  });

  test('where the process stopped between its swap and its write: nothing is read again after the swap', async () => {
    const stopping = new Stopping(takesPermit, 'before');
    await overtaken(stopping);
    await expectRefused(stopping);
  });

  test('after the same leader took it as failed, bumped the shadow, and started another node', async () => {
    let late: Promise<unknown> | undefined;
    let release = (): void => undefined;
    const transport = intercepted(stage.transport, (request, go) => {
      if (!writesSpec(request) || late) return go();
      const { signal: _, ...sent } = request;
      late = new Promise<void>((resolve) => (release = resolve)).then(() => stage.transport.request(sent));
      late.catch(() => undefined);
      return hold('a').then(() => Promise.reject(new UnreachableError('timed out')));
    });
    stage.start({ transport });
    await stage.pass(5000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
    release();
    await expect(late).rejects.toThrow(ConflictError);
  });

  test('where its swap comes late: the permit stays with the other', async () => {
    const stopping = new Stopping(takesPermit, 'after');
    await overtaken(stopping);
    await stopping.goOn();
    expect(stopping.outcomes).toEqual([]);
    expect(await stage.permits()).toEqual(['brs-b']);
  });

  test('though the shadow was bumped before: a bump writes another value each time', async () => {
    const annotations = { 'brupop.bottlerocket.aws/bumped': '1' };
    await stage.shadows.patch(shadowName('a'), { metadata: { annotations } });
    const stopping = new Stopping(writesSpec, 'after');
    await overtaken(stopping);
    await expectRefused(stopping);
  });
});
