import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { Rulings } from '../../controller/plan/facts/rulings.ts';
import type { LetFinish } from '../../api/shadow/let-finish.ts';
import { startable } from '../../controller/plan/facts/machine.ts';
import type { UpdatePolicyObject } from '../../api/resources.ts';
import { instantOf } from '../../lib/clock.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../api/policy/names.ts';
import { type Command, RefusedCommandError, type CommandRequest, optionValues, UsageError } from '../command.ts';
import { type Overrides, inspect, type Inspection } from '../inspect.ts';
import { hereOf } from '../arguments.ts';
import { checkDrains } from '../forecast/drains.ts';
import { forecastFrom } from '../forecast/forecast.ts';
import { forecastLines, forecastValue, planLines, planValue } from '../forecast/lines.ts';

export const planCommand: Command = {
  name: 'plan',
  args: '',
  summary: 'show which updates would start now, or simulate the whole rollout',
  details: `It makes the same plan as the controller, for the cluster as it is now, and writes nothing. With --until-done it simulates the rollout on a
virtual clock: updates take as long as the nodes' last ones, and no further node fails. It also shows which drains cannot end as things are, and
which pods would find no room elsewhere.`,
  options: {
    filename: {
      type: 'string',
      short: 'f',
      multiple: true,
      value: 'FILE',
      help: 'try the update policies in this YAML file; each replaces the one of its name, or is added; may be repeated',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'VARIABLE=VALUE',
      help: 'try this setting of the controller, e.g. MAX_CONCURRENT_UPDATE=3; may be repeated',
    },
    at: {
      type: 'string',
      value: 'TIME',
      help: 'plan for this time (RFC 3339), with everything else as it is now; by default now',
    },
    'until-done': { type: 'boolean', help: 'simulate until nothing more would happen' },
  },
  maxArgs: 0,
  async run(request) {
    const cluster = await request.connect();
    const overrides = await overridesOf(optionValues(request.values, 'filename'), optionValues(request.values, 'set'));
    const seen = await inspect(cluster, timeOf(request), overrides);
    checkPolicies(
      seen,
      overrides.policies.map(({ metadata }) => metadata.name),
    );
    const drains = await checkDrains(cluster, aheadIn(seen), seen.now);
    const known = { ...seen, unknown: [...seen.unknown, ...drains.unknown] };
    const shown = { seen: known, drains, here: hereOf(request.values) };
    if (request.values['until-done'] !== true)
      return { value: planValue(known, drains), lines: (terminal) => planLines(shown, terminal) };
    const forecast = forecastFrom(known, {
      progress: (starts) => request.progress?.(`simulates: ${starts} updates so far`),
    });
    return {
      value: forecastValue(known, forecast, drains),
      lines: (terminal) => forecastLines({ ...shown, forecast }, terminal),
    };
  },
};

function timeOf({ values, clock }: CommandRequest): number {
  const text = values['at'];
  if (text === undefined) return clock.now();
  const at = instantOf(String(text));
  if (at === undefined) throw new UsageError(`--at: expected a time like 2026-01-31T22:00:00Z, got ${String(text)}`);
  return at;
}

/** Refuses policies with faults: such a policy would only hold its nodes back. */
function checkPolicies({ plan }: Inspection, names: readonly string[]): void {
  const faulty = plan.policies.filter(({ name, accepted }) => names.includes(name) && accepted.status === 'False');
  if (faulty.length === 0) return;
  throw new RefusedCommandError(faulty.map(({ name, accepted }) => `policy ${name}: ${accepted.message}`).join('\n'));
}

/** Names of managed nodes whose update can start, and whose work their drains let finish. */
function aheadIn({ snapshot }: Inspection): ReadonlyMap<string, LetFinish | undefined> {
  const { nodes, shadows } = snapshot;
  const { claims } = new Rulings(snapshot);
  const waiting = new Set(shadows.filter((shadow) => startable(shadow) !== undefined).map(({ name }) => name));
  const ahead = nodes.filter(({ managed, shadowName }) => managed && waiting.has(shadowName));
  return new Map(ahead.map((node) => [node.name, claims.of(node).rules.letFinish]));
}

/** Reads the options -f and --set. @throws UsageError */
export async function overridesOf(files: readonly string[], settings: readonly string[]): Promise<Overrides> {
  const policies = (await Promise.all(files.map(policiesInFile))).flat();
  return { policies, settings: Object.fromEntries(settings.map(settingOf)) };
}

function settingOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set: expected VARIABLE=VALUE, got ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function policiesInFile(file: string): Promise<readonly UpdatePolicyObject[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`-f: cannot read ${file}`, { cause });
  });
  const documents = parseAllDocuments(text);
  return [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new UsageError(`${file}: ${error.message}`);
    const object = document.toJS() as unknown;
    return object === null ? [] : [policyOf(object, file)];
  });
}

/** The plan validates the spec, as that of any policy. */
function policyOf(object: unknown, file: string): UpdatePolicyObject {
  const { apiVersion, kind, metadata, spec } = (object ?? {}) as Partial<UpdatePolicyObject>;
  if (apiVersion !== POLICY_API_VERSION || kind !== POLICY_KIND)
    throw new UsageError(`${file}: expected ${POLICY_API_VERSION} ${POLICY_KIND}, got ${apiVersion} ${kind}`);
  const name: unknown = metadata?.name;
  if (typeof name !== 'string' || name === '') throw new UsageError(`${file}: expected a policy with a name`);
  return { apiVersion, kind, metadata: { name, uid: `planned-${name}`, resourceVersion: '0', generation: 1 }, spec };
}
