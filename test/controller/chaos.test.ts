import { expect, test } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport, KubeWatch } from '../../runtime/kube/transport.ts';
import type { Spec, Status } from '../../runtime/shadow/model.ts';
import { shadowName } from '../../runtime/shadow/names.ts';
import { Stage } from './stage.ts';
import { seeded, seeds } from '../random.ts';

const NODES = ['a', 'b', 'c'];

/** The API over a bad line: requests are late, lost, or land after their sender has given up; watches lag. */
class BadLine implements KubeTransport {
  readonly #stage: Stage;
  readonly #random: () => number;
  quiet = false;

  constructor(stage: Stage, random: () => number) {
    this.#stage = stage;
    this.#random = random;
  }

  async request({ signal, ...request }: KubeRequest): Promise<unknown> {
    const dice = this.#random();
    if (this.quiet || dice < 0.7) return this.#stage.transport.request(request);
    const late = this.#later(request);
    // Its sender may be gone by the time it is answered.
    late.catch(() => undefined);
    if (dice < 0.85) return Promise.race([late, abortion(signal)]);
    throw new UnreachableError('timed out');
  }

  async *watch(request: KubeWatch): AsyncGenerator<never> {
    for await (const event of this.#stage.transport.watch(request)) {
      if (!this.quiet && this.#random() < 0.3)
        await this.#stage.clock.sleep(this.#random() * 20_000, request.signal).catch(() => undefined);
      yield event as never;
    }
  }

  async #later(request: KubeRequest): Promise<unknown> {
    await this.#stage.clock.sleep(this.#random() * 40_000);
    return this.#stage.transport.request(request);
  }
}

function abortion(signal: AbortSignal | undefined): Promise<never> {
  const given = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new UnreachableError('given up')), { once: true });
  });
  given.catch(() => undefined);
  return given;
}

/** Each agent takes its next step at once or a little later; now and then a step fails. */
async function moveAgents(stage: Stage, random: () => number): Promise<void> {
  for (const name of NODES) {
    const { spec, status } = (await stage.shadows.get(shadowName(name)))!;
    const next = status && spec.state !== status.current_state ? step(spec, status, random) : undefined;
    if (next) await stage.report(name, next);
  }
}

const FAILURE = {
  current_state: 'ErrorReset',
  crash_count: 1,
  state_transition_failure_timestamp: '2026-01-01T00:00:00Z',
} as const;

function step({ state }: Spec, status: Status, random: () => number): Partial<Status> | undefined {
  if (random() < 0.5 || (status.current_state === 'ErrorReset' && state !== 'Idle')) return undefined;
  if (state === 'RebootedIntoUpdate') return { current_state: state, current_version: '1.1.0' };
  const fails = state === 'StagedAndPerformedUpdate' && status.crash_count === 0 && random() < 0.3;
  return fails ? FAILURE : { current_state: state };
}

async function active(stage: Stage): Promise<readonly string[]> {
  const shadows = await stage.shadows.list();
  return shadows
    .filter(({ spec, status }) => spec.state !== 'Idle' || status?.current_state !== 'Idle')
    .map(({ metadata }) => metadata.name);
}

test.each(seeds(6))(
  'two controllers on bad lines never update two nodes at once, and finish (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const stage = await Stage.with(...NODES);
    const lines = [new BadLine(stage, random), new BadLine(stage, random)];
    for (const transport of lines) stage.start({ transport });
    for (let round = 0; round < 250; round++) {
      if (round === 150) for (const line of lines) line.quiet = true;
      await stage.pass(random() * 3000);
      expect((await active(stage)).length).toBeLessThanOrEqual(1);
      await moveAgents(stage, random);
      expect((await active(stage)).length).toBeLessThanOrEqual(1);
    }
    const versions = (await stage.shadows.list()).map(({ status }) => status?.current_version);
    expect(versions).toEqual(['1.1.0', '1.1.0', '1.1.0']);
    expect(await stage.slots()).toEqual([]);
    await stage.end();
  },
);
