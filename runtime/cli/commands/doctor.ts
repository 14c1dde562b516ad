import { pauseText } from '../../api/shadow/asked.ts';
import { commandLine, type Here, told } from '../arguments.ts';
import { type Answer, type Cluster, type Command, type CommandRequest, durationOf, EXIT } from '../command.ts';
import { NAME } from '../help.ts';
import { leftoversIn } from './leftovers.ts';
import { type Terminal, paint, wrapped } from '../output/terminal.ts';
import { pauseAfter } from '../output/watch.ts';
import { agentFindings, labelFindings } from '../doctor/agents.ts';
import { findingsBefore } from '../doctor/before.ts';
import { clockFindings, leaderFindings } from '../doctor/clocks.ts';
import { certificateFindings, definitionFindings, unreadableFindings, webhookFindings } from '../doctor/cluster.ts';
import { type Facts, readFacts } from '../doctor/facts.ts';
import { type DoctorFinding, namesText, ok, problem, unknown } from '../doctor/finding.ts';
import { otherFindings } from '../doctor/others.ts';
import { partsFindings } from '../doctor/parts.ts';
import { repositoryFindings } from '../doctor/repositories.ts';
import { lifecycleFindings, mayRead, rightsFindings, readRights } from '../doctor/rights.ts';

const DEFAULT_TIMEOUT = '5m';

export const doctor: Command = {
  name: 'doctor',
  args: '',
  summary: 'check the operator itself, and say what to do',
  details: `It checks the parts and their versions, other operators beside it, the leader, the agents of labelled nodes, the CustomResourceDefinitions and stored versions, the
webhook, certificates, clocks, lifecycle conditions, update policies, and your rights. It writes nothing. The exit code is ${EXIT.found} if there is a problem.`,
  options: {
    pre: { type: 'boolean', help: 'check a cluster that does not have the operator yet' },
    wait: { type: 'boolean', help: 'after installing: look again until there is no problem' },
    timeout: { type: 'string', value: 'DURATION', help: `how long --wait waits; by default ${DEFAULT_TIMEOUT}` },
  },
  maxArgs: 0,
  async run(request) {
    const { connect, clock, values } = request;
    const cluster = await connect();
    const look = () => (values['pre'] ? findingsBefore(cluster, clock.now()) : findingsOf(cluster, clock.now()));
    const findings = values['wait'] ? await onceWell(request, look) : await look();
    const place = { ...values, namespace: cluster.namespace };
    // kubectl does not find the operator's namespace by itself.
    const here = (command: string) => commandLine(command, command.startsWith(NAME) ? values : place);
    return answerOf(findings.map((finding) => forPlace(finding, here)));
  },
};

const forPlace = ({ todo, ...finding }: DoctorFinding, here: Here): DoctorFinding =>
  todo === undefined ? finding : { ...finding, todo: told(todo, here) };

async function findingsOf(cluster: Cluster, now: number): Promise<readonly DoctorFinding[]> {
  const rights = await readRights(cluster);
  if (!mayRead(rights)) return rightsFindings(rights);
  try {
    return diagnosis(await readFacts(cluster, rights, now), now);
  } catch (error) {
    // An operator that was taken away with shadows that only it could read leaves nothing else to look at.
    const stuck = await unreadableFindings(cluster);
    if (stuck.length === 0) throw error;
    return stuck;
  }
}

type Look = () => Promise<readonly DoctorFinding[]>;

/** The findings once none is a problem, or the last ones in time. What is only being installed may not be there yet. @throws as the last look */
async function onceWell({ clock, values, progress }: CommandRequest, look: Look): Promise<readonly DoctorFinding[]> {
  const until = clock.monotonic() + durationOf('timeout', String(values['timeout'] ?? DEFAULT_TIMEOUT));
  for (;;) {
    const begun = clock.monotonic();
    const isLast = begun >= until;
    const findings = await (isLast ? look() : look().catch(() => NOT_THERE));
    const first = findings.find(isProblem);
    if (isLast || !first) return findings;
    progress?.(`waits: ${first.says}`);
    await clock.sleep(Math.min(pauseAfter(clock.monotonic() - begun), Math.max(0, until - clock.monotonic())));
  }
}

const NOT_THERE = [problem('parts', 'the operator is not there yet', '')];

const isProblem = ({ state }: DoctorFinding): boolean => state === 'problem';

/** Makes every check. @param now milliseconds since the Unix epoch, by the clock of this machine */
function diagnosis(facts: Facts, now: number): readonly DoctorFinding[] {
  return [
    ...partsFindings(facts),
    ...leaderFindings(facts, now),
    ...labelFindings(facts.seen.snapshot.nodes),
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
    ...(snapshot.paused
      ? [unknown('policies', pauseText(snapshot.pausedBy), '`kubectl brupop resume` ends that.')]
      : []),
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

const LEFTOVERS = '`kubectl brupop leftovers` lists it; `kubectl brupop cleanup NODE` undoes what is marked as ours.';

function answerOf(findings: readonly DoctorFinding[]): Answer {
  const problems = findings.filter(isProblem);
  return {
    value: { problems: problems.length, findings },
    lines: (terminal) => [
      ...findings.flatMap((finding, index) => findingLines(finding, findings[index + 1], terminal)),
      '',
      LEGEND,
    ],
    exitCode: problems.length > 0 ? EXIT.found : EXIT.ok,
  };
}

const SIGNS = { ok: 'ok  ', problem: 'BAD ', unknown: '?   ' } as const;
const STYLES = { ok: 'good', problem: 'bad', unknown: 'late' } as const;
const LEGEND = 'ok: good; BAD: somebody has to act; ?: not known, or for you to decide; ->: what to do';

/** What is done about several in a row alike is said after the last of them. */
function findingLines(
  { check, state, says, todo }: DoctorFinding,
  next: DoctorFinding | undefined,
  terminal: Terminal,
): readonly string[] {
  const room = { columns: terminal.columns, indent: 6 };
  const said = wrapped(`${paint(terminal, STYLES[state], SIGNS[state])}${check}: ${says}`, room);
  const isLast = next?.check !== check || next.todo !== todo;
  return todo === undefined || !isLast ? said : said.concat(wrapped(`      -> ${todo}`, { ...room, indent: 9 }));
}
