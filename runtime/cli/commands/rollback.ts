import { DECIDED_ANNOTATION, decidedText } from '../../api/release/decided.ts';
import { ANY_POLICY } from '../../api/release/names.ts';
import type { GoingBack } from '../../controller/plan/answer/going-back.ts';
import { BY_OPTION, CHANGE_OPTIONS, requestOf } from '../change.ts';
import { changeReleases, naming, policyIn } from '../change-releases.ts';
import type { Answer, Cluster, Command, CommandRequest } from '../command.ts';
import { explain } from '../errors.ts';
import { inspect } from '../inspect.ts';
import { versionIn } from '../known-releases.ts';
import { connectToOperator } from '../operator.ts';
import { table } from '../output/terminal.ts';

export const rollback: Command = {
  name: 'rollback',
  args: 'RELEASE',
  summary: 'take nodes back from a release to the version that they came from, and start none on it',
  details: `RELEASE is a version, for every variant and architecture that knows it, or the name of one BottlerocketRelease. It says of each node where it
goes, or why it stays; with --dry-run it says so and writes nothing. A way back is an update like any other, under the same budgets and windows: the
host is locked to the older version and downloads it. Whether migrations lead there shows as it prepares. The nodes stay there until a newer release
is offered. Stays so until it is undone, or the release is allowed.`,
  options: {
    policy: { type: 'string', value: 'NAME', help: 'only nodes of this policy; by default all' },
    ...BY_OPTION,
    ...CHANGE_OPTIONS,
  },
  minArgs: 1,
  maxArgs: 1,
  run: (request) => rollBack(request),
};

async function rollBack(request: CommandRequest): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const policy = await policyIn(request, cluster);
  const seen = await lookedAt(request, cluster, policy);
  const annotations = { [DECIDED_ANNOTATION]: decidedText('Rollback', requestOf(request)) };
  const whose = policy === ANY_POLICY ? 'all nodes' : `nodes of policy ${policy}`;
  const answer = await changeReleases(request, cluster, {
    says: `${whose} go back from it, and none starts on it`,
    ...naming('rollbackFor', policy, { annotations }),
    ahead: undefined,
  });
  return withNodes(answer, seen);
}

/** What nodes will do, or why that is not known: who has to take nodes back does not wait for that. */
interface Seen {
  readonly nodes: readonly GoingBack[];
  readonly notKnown: readonly string[];
}

async function lookedAt({ names, clock }: CommandRequest, cluster: Cluster, policy: string): Promise<Seen> {
  const [words = ''] = names;
  try {
    const { snapshot, goingBack, unknown } = await inspect(cluster, clock.now());
    const { objects } = snapshot.releases;
    const named = objects.filter(({ name }) => name === words);
    const meant = new Set(named.length > 0 ? named : objects.filter(({ version }) => version === versionIn(words)));
    const others = objects.filter((one) => !meant.has(one));
    const taken = [...meant].map((one) => Object.assign({}, one, { rollbackFor: [policy] }));
    const versions = new Set([...meant].map(({ version }) => version));
    const nodes = goingBack({ ...snapshot.releases, objects: [...others, ...taken] }).filter(({ runs }) =>
      versions.has(runs),
    );
    return { nodes, notKnown: unknown };
  } catch (error) {
    return { nodes: [], notKnown: [`which nodes go back: ${explain(error)}`] };
  }
}

function withNodes(answer: Answer, { nodes, notKnown }: Seen): Answer {
  const rows = nodes.map(({ node, to, stays, doubt }) => [
    `  ${node}`,
    to === undefined ? `stays: ${stays}` : `goes back to ${to}${doubt === undefined ? '' : `, if it can: ${doubt}`}`,
  ]);
  return {
    ...answer,
    value: { ...answer.value, nodes, notKnown },
    lines: (terminal) => [
      ...answer.lines(terminal),
      ...table(rows, terminal),
      ...(nodes.some(({ to }) => to !== undefined)
        ? ['  Each way back is a download and a drain, under the budget of its policy.']
        : []),
      ...(nodes.length === 0 && notKnown.length === 0 ? ['  no node runs it'] : []),
      ...notKnown.map((one) => `not known: ${one}`),
    ],
  };
}
