import { rfc3339 } from '../../lib/clock.ts';
import { hereOf } from '../arguments.ts';
import { type Command, EXIT, type ExitCode } from '../command.ts';
import { forecastFrom } from '../forecast/forecast.ts';
import { inspect } from '../inspect.ts';
import { noLeaderValue } from '../leader.ts';
import { timeValue } from '../output/output.ts';
import { statusLines } from '../status/lines.ts';
import { type FleetStatus, type Reasoned, statusOf } from '../status/status.ts';

/** Milliseconds. Whoever asks what needs them does not wait for the end of a long rollout to be foreseen. */
const FORECAST_MS = 1000;

export const status: Command = {
  name: 'status',
  args: '',
  summary: 'show the whole fleet: what needs you, why releases are halted, how far it is, what waits and why',
  details: `The signs in a bar: # runs what it is offered, > is being updated, ! has failed, . waits.
The end is that of plan --until-done: it assumes that updates take as long as the nodes' last ones, and that none fails.`,
  options: {
    watch: { type: 'boolean', short: 'w', help: 'repeat until q or Ctrl-C' },
    'exit-code': {
      type: 'boolean',
      help: `for scripts: end with ${EXIT.found} if something needs you, else with ${EXIT.unfinished} while updates wait or run, else with ${EXIT.ok}`,
    },
  },
  maxArgs: 0,
  async run({ clock, connect, values }) {
    const inspected = await inspect(await connect(), clock.now());
    const began = clock.monotonic();
    const isOver = () => clock.monotonic() - began > FORECAST_MS;
    const seen = statusOf(inspected, forecastFrom(inspected, { isOver }));
    const exitCode = values['exit-code'] ? codeOf(seen) : EXIT.ok;
    return { exitCode, value: statusValue(seen), lines: (terminal) => statusLines(seen, terminal, hereOf(values)) };
  },
};

function codeOf({ needsYou, halted, noLeader, pace }: FleetStatus): ExitCode {
  if (needsYou.length > 0 || halted.length > 0 || noLeader) return EXIT.found;
  return pace.left + pace.stuck > 0 ? EXIT.unfinished : EXIT.ok;
}

function statusValue({ now, pace, noLeader, needsYou, waiting, updating, policies, ...rest }: FleetStatus): object {
  const { typicalMs, typicalRebootMs, endsAt, ...counts } = pace;
  return {
    at: rfc3339(now),
    noLeader: noLeaderValue(noLeader),
    ...rest,
    policies: policies.map(({ name, ...policy }) => ({ name: name ?? null, ...policy })),
    needsYou: needsYou.map(reasonedValue),
    updating: updating.map((one) => ({
      ...one,
      since: timeValue(one.since),
      drainEndsAt: timeValue(one.drainEndsAt),
      silentSince: timeValue(one.silentSince),
      awaySince: timeValue(one.awaySince),
    })),
    waiting: waiting.map(reasonedValue),
    pace: {
      ...counts,
      typicalSeconds: secondsValue(typicalMs),
      typicalRebootSeconds: secondsValue(typicalRebootMs),
      endsAt: timeValue(endsAt),
    },
  };
}

const secondsValue = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.round(ms / 1000);

const reasonedValue = (one: Reasoned): object => ({ ...one, since: timeValue(one.since), until: timeValue(one.until) });
