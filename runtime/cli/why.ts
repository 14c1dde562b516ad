import type { PolicyReport } from '../controller/plan/report.ts';
import { rfc3339 } from '../lib/clock.ts';
import { type Answer, type Command, EXIT, RefusedCommandError } from './command.ts';
import { type Inspection, inspect } from './inspect.ts';
import { timeValue, verdictValue } from './values.ts';
import { fleetLines, nodeLine, policyLines, unknownLines } from './why-lines.ts';

export const why: Command = {
  name: 'why',
  takes: '[NODE...]',
  summary: 'say why each node is, or is not, being updated',
  details: `Plans as the controller does, on what the cluster shows and by the settings of the controller's Deployment. Nothing is
written, and no controller need run. Without NODE it says so of all nodes and of every update policy.`,
  options: {},
  least: 0,
  most: Infinity,
  async run({ names, clock, connect }) {
    const seen = await inspect(await connect(), clock.now());
    return names.length === 0 ? ofFleet(seen) : ofNodes(seen, names);
  },
};

function ofFleet(seen: Inspection): Answer {
  const { plan, snapshot, unknown, now } = seen;
  return {
    value: {
      at: rfc3339(now),
      paused: snapshot.paused,
      notKnown: unknown,
      policies: plan.policies.map(policyValue),
      halted: plan.halted,
      warnings: plan.warnings,
      nodes: plan.verdicts.map(verdictValue),
    },
    lines: () => fleetLines(seen),
  };
}

const policyValue = ({ nextChangeAt, ...report }: PolicyReport) => ({
  ...report,
  nextChangeAt: timeValue(nextChangeAt),
});

function ofNodes(seen: Inspection, names: readonly string[]): Answer {
  const lines = names.map((name) => nodeLine(seen, name) ?? `${name}  is no node of the cluster`);
  const missing = names.filter((name) => nodeLine(seen, name) === undefined);
  if (missing.length === names.length) throw new RefusedCommandError(`the cluster has no node ${missing.join(', ')}`);
  const asked = new Set(names);
  const verdicts = seen.plan.verdicts.filter(({ node }) => asked.has(node));
  const policies = [...new Set(names.flatMap((name) => policyLines(seen, name)))];
  return {
    value: { at: rfc3339(seen.now), notKnown: seen.unknown, nodes: verdicts.map(verdictValue) },
    lines: () => [...unknownLines(seen), ...policies, ...lines],
    exitCode: missing.length > 0 ? EXIT.failed : EXIT.ok,
  };
}
