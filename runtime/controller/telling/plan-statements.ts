import { OF_FLEET } from '../plan/facts/reasons.ts';
import { variablesOf } from '../plan/facts/policies.ts';
import { warningGiven, windowTriggered, windowTurned } from './events.ts';
import { arrivals, failures, missingAgents, setbacks, unreadableMarks } from './node-statements.ts';
import { policyStatements } from './policy-statements.ts';
import { newlyPublished, releases, rollouts } from './release-statements.ts';
import { byTopic, type Planned, type Statement, type Statements } from './statements.ts';

/** Everything that holds of nodes, policies and the fleet by this plan. */
export function statementsOf(planned: Planned, before: Statements): Statements {
  const statements = [
    ...setbacks(planned),
    ...missingAgents(planned, before),
    ...standstills(planned),
    ...[...before.values()].filter(({ kind }) => kind === 'published'),
    ...newlyPublished(planned),
    ...releases(planned, before),
    windowStatement(planned, before),
    ...warnings(planned),
    ...unreadableMarks(planned),
    ...policyStatements(planned, before),
    ...arrivals(planned),
  ];
  return byTopic(statements);
}

/** Statements for notifications alone: they have no Event, or have it at another moment. */
export function notifiedOf(planned: Planned, before: Statements): Statements {
  return byTopic([...rollouts(planned, before), ...failures(planned)]);
}

/** What keeps the whole fleet from updates. That it does not is remembered as well, so that people are told when it does again. */
function standstills({ plan: { verdicts }, lease }: Planned): readonly Statement[] {
  return OF_FLEET.map((reason) => {
    const said = verdicts.find((verdict) => verdict.reason === reason);
    const value = said ? 'stands' : 'over';
    const event = warningGiven(lease, { reason, message: said?.message ?? '' });
    return { kind: 'fleet', of: reason, value, event, isRecorded: said !== undefined, isRepeated: true };
  });
}

/** The first known state of the window is no change, so no Event is recorded for it. */
function windowStatement({ snapshot, lease }: Planned, before: Statements): Statement {
  const { open, triggeredAt } = variablesOf(snapshot).window;
  const event = triggeredAt === undefined ? windowTurned(lease, open) : windowTriggered(lease);
  return {
    kind: 'window',
    of: 'schedule',
    value: String(triggeredAt ?? open),
    event,
    isRecorded: before.has('window schedule'),
    isRepeated: false,
  };
}

function warnings({ plan, lease }: Planned): readonly Statement[] {
  return plan.warnings.map((warning) => {
    const event = warningGiven(lease, warning);
    return { kind: 'warning', of: warning.reason, value: 'given', event, isRecorded: true, isRepeated: true };
  });
}
