import { systemClock } from '../../../runtime/lib/clock.ts';
import { AGENT_NODE_FLAGS } from '../../../runtime/agent/config.ts';
import type { Spec } from '../../../runtime/api/shadow/model.ts';
import type { Bench, Figure } from '../bench.ts';
import { OFFERED, type Stand, WANTED, withStand } from './stand.ts';

const ROUNDS = 200;
const WARM_UP = 20;
const MOST_MS = 100;

export const agentReaction: Bench = {
  name: 'agent-reaction',
  what: `${ROUNDS} changes of spec, there and back: agent and apiserver as processes, connections over loopback`,
  run: (context) =>
    withStand(context, async (stand) => {
      stand.startAgent([process.execPath, ...AGENT_NODE_FLAGS]);
      await stand.until(({ status }) => status?.target_version === OFFERED);
      context.progress(`${WARM_UP + ROUNDS} rounds`);
      const reactions: Reaction[] = [];
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        for (const spec of WANTED) reactions.push(await reaction(stand, spec));
      }
      const measured = reactions.slice(WARM_UP * WANTED.length);
      const [begun, said] = [measured.map(({ begunMs }) => begunMs), measured.map(({ saidMs }) => saidMs)];
      return [...figures('spec written to first host call', begun), ...figures('last host reply to status', said)];
    }),
};

interface Reaction {
  /** From before the write of spec to the first call that comes to the host. */
  readonly begunMs: number;
  /** From the host's last answer to the status as the cluster's watch tells it: the apiserver's own work included. */
  readonly saidMs: number;
}

async function reaction(stand: Stand, spec: Spec): Promise<Reaction> {
  let firstCall: number | undefined;
  let lastAnswer = NaN;
  const unobserve = stand.host.observe({
    onCall: () => void (firstCall ??= systemClock.monotonic()),
    onAnswer: () => void (lastAnswer = systemClock.monotonic()),
  });
  const writtenAt = systemClock.monotonic();
  await stand.want(spec);
  await stand.until(({ status }) => status?.current_state === spec.state);
  const saidAt = systemClock.monotonic();
  unobserve();
  return { begunMs: (firstCall ?? NaN) - writtenAt, saidMs: saidAt - lastAnswer };
}

function figures(name: string, values: readonly number[]): Figure[] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
  return [
    { name: `${name}, median`, value: at(0.5), unit: 'ms' },
    { name: `${name}, p99`, value: at(0.99), unit: 'ms', atMost: MOST_MS },
  ];
}
