import { pauseText } from '../../api/shadow/asked.ts';
import { type Answer, type Command, EXIT } from '../command.ts';
import { leftoversIn } from './leftovers.ts';
import { type Terminal, paint, wrapped } from '../output/terminal.ts';
import { clockFindings, leaderFindings } from '../doctor/clocks.ts';
import { certificateFindings, definitionFindings, unreadableFindings, webhookFindings } from '../doctor/cluster.ts';
import { type Facts, readFacts } from '../doctor/facts.ts';
import { type DoctorFinding, namesText, ok, problem, unknown } from '../doctor/finding.ts';
import { otherFindings } from '../doctor/others.ts';
import { agentFindings, partsFindings } from '../doctor/parts.ts';
import { repositoryFindings } from '../doctor/repositories.ts';
import { lifecycleFindings, mayRead, rightsFindings, readRights } from '../doctor/rights.ts';

export const doctor: Command = {
  name: 'doctor',
  args: '',
  summary: 'check the operator itself, and say what to do',
  details: `It checks the parts and their versions, other operators beside it, the leader, the agents of labelled nodes, the CustomResourceDefinitions and stored versions, the
webhook, certificates, clocks, lifecycle conditions, update policies, and your rights. It writes nothing. The exit code is ${EXIT.found} if there is a problem.`,
  options: {},
  maxArgs: 0,
  async run({ clock, connect }) {
    const now = clock.now();
    const cluster = await connect();
    const rights = await readRights(cluster);
    if (!mayRead(rights)) return answerOf(rightsFindings(rights));
    try {
      return answerOf(diagnosis(await readFacts(cluster, rights, now), now));
    } catch (error) {
      // An operator that was taken away with shadows that only it could read leaves nothing else to look at.
      const stuck = await unreadableFindings(cluster);
      if (stuck.length === 0) throw error;
      return answerOf(stuck);
    }
  },
};

/** Makes every check. @param now milliseconds since the Unix epoch, by the clock of this machine */
function diagnosis(facts: Facts, now: number): readonly DoctorFinding[] {
  return [
    ...partsFindings(facts),
    ...leaderFindings(facts, now),
    ...agentFindings(facts),
    ...otherFindings(facts),
    ...definitionFindings(facts),
    ...webhookFindings(facts, now),
    ...certificateFindings(facts, now),
    ...clockFindings(facts, now),
    ...lifecycleFindings(facts.lifecycle),
    ...fleetFindings(facts),
    ...repositoryFindings(facts.repositories, now),
    ...rightsFindings(facts.rights),
  ];
}

/** Checks policies, the pause of the fleet and leftovers. */
function fleetFindings({ seen }: Facts): readonly DoctorFinding[] {
  const { plan, snapshot, unknown: assumed } = seen;
  const faulty = plan.policies.filter(({ accepted }) => accepted.status === 'False');
  const left = leftoversIn(seen);
  return [
    ...faulty.map(({ name, accepted }) => problem('policies', `${name}: ${accepted.message}`, 'Mend the policy.')),
    ...(plan.policies.length > 0 && faulty.length === 0 ? [ok('policies', 'all update policies can be obeyed')] : []),
    ...(snapshot.paused ? [unknown('policies', pauseText(snapshot.pausedBy), 'kubectl brupop resume ends that.')] : []),
    ...assumed.map((one) => unknown('settings', `not known: ${one}`)),
    ...(left.length === 0
      ? []
      : [
          problem(
            'leftovers',
            `something is left on ${namesText([...new Set(left.map(({ node }) => node))])}`,
            LEFTOVERS,
          ),
        ]),
  ];
}

const LEFTOVERS = 'kubectl brupop leftovers lists it; kubectl brupop cleanup undoes what is marked as ours.';

function answerOf(findings: readonly DoctorFinding[]): Answer {
  const problems = findings.filter(({ state }) => state === 'problem');
  return {
    value: { problems: problems.length, findings },
    lines: (terminal) => findings.flatMap((finding) => findingLines(finding, terminal)),
    exitCode: problems.length > 0 ? EXIT.found : EXIT.ok,
  };
}

const SIGNS = { ok: 'ok  ', problem: 'BAD ', unknown: '?   ' } as const;
const STYLES = { ok: 'good', problem: 'bad', unknown: 'late' } as const;

function findingLines({ check, state, says, todo }: DoctorFinding, terminal: Terminal): readonly string[] {
  const room = { columns: terminal.columns, indent: 6 };
  const said = wrapped(`${paint(terminal, STYLES[state], SIGNS[state])}${check}: ${says}`, room);
  return todo === undefined ? said : said.concat(wrapped(`      -> ${todo}`, { ...room, indent: 9 }));
}
