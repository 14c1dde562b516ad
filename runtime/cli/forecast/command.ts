import { instantOf } from '../../lib/clock.ts';
import { startable } from '../../controller/plan/machine.ts';
import { type Command, RefusedCommandError, type Request, textsOf, UsageError } from '../command.ts';
import { type Inspection, inspect } from '../inspect.ts';
import { changesOf } from './changes.ts';
import { drainsOf } from './drains.ts';
import { foresee } from './forecast.ts';
import { forecastLines, planLines } from './lines.ts';
import { forecastValue, planValue } from './values.ts';

export const planCommand: Command = {
  name: 'plan',
  takes: '',
  summary: 'say what would start now and next, or the whole rollout ahead of time',
  details: `It plans as the controller does, on what the cluster shows now. Nothing is written. With --until-done it goes on by a clock of its own:
agents take as long as the nodes' last updates took, and nothing fails that has not failed already. It also says which drains cannot end as things are.`,
  options: {
    filename: {
      type: 'string',
      short: 'f',
      multiple: true,
      value: 'FILE',
      help: 'update policies (YAML) in place of those of the same name, or besides; several times for more',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'VARIABLE=VALUE',
      help: "in place of the controller's setting, e.g. MAX_CONCURRENT_UPDATE=3; several times for more",
    },
    at: {
      type: 'string',
      value: 'TIME',
      help: 'as if it were this time (RFC 3339), and all else as it is; by default now',
    },
    'until-done': { type: 'boolean', help: 'go on until nothing more would happen' },
  },
  most: 0,
  async run(request) {
    const cluster = await request.connect();
    const changes = await changesOf(textsOf(request.values, 'filename'), textsOf(request.values, 'set'));
    const seen = await inspect(cluster, timeOf(request), changes);
    checkPolicies(
      seen,
      changes.policies.map(({ metadata }) => metadata.name),
    );
    const drains = await drainsOf(cluster, aheadIn(seen), seen.now);
    const known = { ...seen, unknown: [...seen.unknown, ...drains.unknown] };
    if (request.values['until-done'] !== true)
      return { value: planValue(known, drains.stuck), lines: (look) => planLines(known, drains.stuck, look) };
    const forecast = foresee(known);
    return {
      value: forecastValue(known, forecast, drains.stuck),
      lines: (look) => forecastLines({ seen: known, forecast, stuck: drains.stuck }, look),
    };
  },
};

function timeOf({ values, clock }: Request): number {
  const text = values['at'];
  if (text === undefined) return clock.now();
  const at = instantOf(String(text));
  if (at === undefined) throw new UsageError(`--at: expected a time like 2026-01-31T22:00:00Z, got ${String(text)}`);
  return at;
}

/** A policy that is tried and cannot be obeyed would hold its nodes back: that is not what is asked about. */
function checkPolicies({ plan }: Inspection, names: readonly string[]): void {
  const faulty = plan.policies.filter(({ name, accepted }) => names.includes(name) && accepted.status === 'False');
  if (faulty.length === 0) return;
  throw new RefusedCommandError(faulty.map(({ name, accepted }) => `policy ${name}: ${accepted.message}`).join('\n'));
}

/** Managed nodes with an update to begin. */
function aheadIn({ snapshot: { nodes, shadows } }: Inspection): ReadonlySet<string> {
  const waiting = new Set(shadows.filter((shadow) => startable(shadow) !== undefined).map(({ name }) => name));
  return new Set(nodes.filter(({ managed, shadowName }) => managed && waiting.has(shadowName)).map(({ name }) => name));
}
