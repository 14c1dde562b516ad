import { durationText, rfc3339 } from '../../lib/clock.ts';
import { type Answer, type Command, type CommandRequest, durationOf, EXIT, UsageError } from '../command.ts';
import { inspect } from '../inspect.ts';
import { firstOf } from '../output/output.ts';
import { pauseAfter } from '../output/watch.ts';
import { type Member, membersOf, type Standing } from '../status/members.ts';

/** What is waited for: the standings that no node may have. */
const GOALS: Readonly<Record<string, ReadonlySet<Standing>>> = {
  complete: new Set<Standing>(['updating', 'waiting', 'failed', 'unreported']),
  idle: new Set<Standing>(['updating']),
};
const DEFAULT_TIMEOUT = '2h';

export const wait: Command = {
  name: 'wait',
  args: '',
  summary: 'wait until every node runs what it is offered, for scripts',
  details: `It reads the fleet again and again. The exit code is ${EXIT.failed} where the time is over before.`,
  options: {
    policy: { type: 'string', value: 'NAME', help: 'only the nodes that this update policy rules' },
    for: {
      type: 'string',
      value: Object.keys(GOALS).join('|'),
      help: 'complete (the default), or idle: no update runs',
    },
    timeout: { type: 'string', value: 'DURATION', help: `how long, e.g. 45m; by default ${DEFAULT_TIMEOUT}` },
  },
  maxArgs: 0,
  async run(request) {
    const { clock, connect, progress } = request;
    const { goal, goalName, timeoutMs, policy } = wishOf(request);
    const cluster = await connect();
    const until = clock.monotonic() + timeoutMs;
    for (;;) {
      const begun = clock.monotonic();
      const seen = await inspect(cluster, clock.now());
      const ruled = membersOf(seen).filter(({ verdict }) => policy === undefined || verdict.policy === policy);
      const left = ruled.filter(({ standing }) => goal.has(standing));
      const isOver = clock.monotonic() >= until;
      if (left.length === 0 || isOver) return answerOf({ left, goalName, at: seen.now, timeoutMs });
      progress?.(`${left.length} of ${ruled.length} nodes are not ${goalName} yet`);
      await clock.sleep(Math.min(pauseAfter(clock.monotonic() - begun), until - clock.monotonic()));
    }
  },
};

function wishOf({ values }: CommandRequest) {
  const goalName = String(values['for'] ?? 'complete');
  const goal = GOALS[goalName];
  if (!goal) throw new UsageError(`--for: expected ${Object.keys(GOALS).join(' or ')}, got ${goalName}`);
  const timeoutMs = durationOf('timeout', String(values['timeout'] ?? DEFAULT_TIMEOUT));
  return { goal, goalName, timeoutMs, policy: values['policy'] };
}

interface Waited {
  readonly left: readonly Member[];
  readonly goalName: string;
  readonly at: number;
  readonly timeoutMs: number;
}

/** Nodes that are named. */
const MAX_NAMED = 5;

function answerOf({ left, goalName, at, timeoutMs }: Waited): Answer {
  const nodes = left.map(({ verdict: { node, reason } }) => ({ node, reason }));
  const named = nodes.map(({ node, reason }) => `${node} (${reason})`);
  const late = `after ${durationText(timeoutMs)} not ${goalName}: ${firstOf(named, MAX_NAMED)}`;
  return {
    value: { at: rfc3339(at), for: goalName, met: left.length === 0, left: nodes },
    lines: () => [left.length === 0 ? `all nodes are ${goalName}` : late],
    exitCode: left.length === 0 ? EXIT.ok : EXIT.failed,
  };
}
