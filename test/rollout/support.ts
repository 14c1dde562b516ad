import { fileURLToPath } from 'node:url';
import type { SimOptions } from '../../lab/sim/options.ts';
import { type Rollout, type RolloutOptions, startRollout } from '../../lab/sim/rollout.ts';
import { inTime } from '../in-time.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const PLAIN: SimOptions = {
  nodes: 3,
  concurrency: '1',
  from: '1.38.0',
  to: '1.39.0',
  speed: 50,
  faults: new Map(),
  keep: false,
};

/** Runs `use` on a rollout with real processes, and ends all of it whatever happens. */
export async function withRollout(
  request: { readonly options?: Partial<SimOptions> } & Partial<Omit<RolloutOptions, 'options' | 'root'>>,
  use: (rollout: Rollout) => Promise<void>,
): Promise<void> {
  const options = { ...PLAIN, ...request.options };
  const rollout = await startRollout({
    options,
    edit: request.edit,
    containers: request.containers,
    root: ROOT,
    interrupted: request.interrupted ?? new AbortController().signal,
  });
  try {
    await use(rollout);
  } finally {
    await rollout.stop();
  }
}

/** Resolves with the end of the rollout. @throws Error before Jest gives the test up, which names what is missing */
export async function isOver(rollout: Rollout): Promise<void> {
  try {
    await inTime('the end of the rollout', rollout.over, 150_000);
  } catch (cause) {
    throw new Error(['the rollout has not ended', ...rollout.summary().faults].join('\n'), { cause });
  }
}

const SHADOWS = '/apis/brupop.bottlerocket.aws/v2/bottlerocketshadows';

/** Resolves at the first moment at which `holds` is true, looked at after each change in a collection. @throws when there is none in time */
export async function until({ world }: Rollout, holds: () => boolean, path = SHADOWS): Promise<void> {
  for await (const _ of world.transport.watch({ path, signal: AbortSignal.timeout(120_000) })) if (holds()) return;
  throw new Error('it did not happen within two minutes');
}
